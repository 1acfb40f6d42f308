"""What every test relies on, those in docstrings included."""

import signal
import sys
import threading

import pytest
from hypothesis import settings

# The same examples on every machine, and no deadline on a busy one.
settings.register_profile("ci", derandomize=True, max_examples=50, deadline=None)
settings.load_profile("ci")

# A shell without job control starts what runs in the background deaf to Ctrl-C, and its children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def figures_are_closed():
    """Close what a test has drawn: more than twenty open figures are a warning, whichever tests came before."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
