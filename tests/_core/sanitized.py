"""Run pytest with another build of the compiled module: sanitized.py MODULE TESTS... (see `make sanitize`)."""

import importlib.util
import sys

import pytest

NAME = "isinglass._core._native"
# Tests that start a process of their own would not use this build.
HERE = "not instruction_set and not interrupt and not collide and not forked"


def main(build: str, tests: list[str]) -> int:
    spec = importlib.util.spec_from_file_location(NAME, build)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[NAME] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return int(pytest.main(["-q", "-p", "no:cacheprovider", "-k", HERE, *tests]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
