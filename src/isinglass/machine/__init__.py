"""What the machine gives: memory, threads and their interruption, locks and signals.

These modules ask the operating system for what not every system has. Where something is missing, as on Windows, memory
is taken to be enough unless ISINGLASS_MAX_MEMORY is set, and files are not locked.
"""
