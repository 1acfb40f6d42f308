"""What the machine gives: memory, threads, locks and signals.

The only modules that ask the operating system for what not all of them have. Where something is missing, as on Windows,
memory is taken to be enough unless ISINGLASS_MAX_MEMORY is set, and files are not locked.
"""
