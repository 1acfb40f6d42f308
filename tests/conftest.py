"""One hypothesis profile for everybody: the same examples on every machine, and no deadline on a busy one."""

from hypothesis import settings

settings.register_profile("ci", derandomize=True, max_examples=50, deadline=None)
settings.load_profile("ci")
