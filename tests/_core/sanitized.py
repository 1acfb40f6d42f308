"""Run pytest with another build of the compiled module: sanitized.py MODULE TESTS... (see `make sanitize`)."""

import importlib.util
import sys

import pytest

NAME = "isinglass._core._native"

spec = importlib.util.spec_from_file_location(NAME, sys.argv[1])
assert spec is not None
assert spec.loader is not None
sys.modules[NAME] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
# Tests that start a process of their own would not use this build.
here = "not instruction_set and not interrupt and not collide"
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", here, *sys.argv[2:]]))
