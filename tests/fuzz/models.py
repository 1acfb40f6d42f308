"""Damaged and hostile model files under a memory limit: each is loaded, or refused with a documented error."""

import functools

from readers import complaints
from readers import run as run_readers

__all__ = ["complaints", "run"]

run = functools.partial(run_readers, name="models")
