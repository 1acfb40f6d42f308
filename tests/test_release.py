"""What users and contributors read about versions, platforms and commands is the same everywhere."""

import re
import tomllib
from pathlib import Path

import isinglass

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def targets_in(text):
    return set(re.findall(r"\bmake ([a-z][a-z-]*[a-z])\b", text))


TARGETS = set(re.findall(r"^([a-z-]+):.*## ", read("Makefile"), re.M))


def test_one_version():
    version = PROJECT["project"]["version"]
    assert isinglass.__version__ == version
    assert re.search(rf"^version: {re.escape(version)}$", read("CITATION.cff"), re.M)
    assert version in read("CHANGELOG.md")


def test_the_package_has_types():
    assert "Typing :: Typed" in PROJECT["project"]["classifiers"]
    assert (Path(isinglass.__file__).parent / "py.typed").exists()


def test_python_versions_agree():
    stated = [re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", line) for line in classifiers()]
    minors = [int(match[1]) for match in stated if match]
    assert minors == [*range(minors[0], minors[-1] + 1)]
    oldest, newest = f"3.{minors[0]}", f"3.{minors[-1]}"
    assert PROJECT["project"]["requires-python"] == f">={oldest}"
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + oldest.replace(".", "")
    assert f'python: ["{oldest}", "{newest}"]' in read(".github/workflows/test.yml")
    abi = PROJECT["tool"]["scikit-build"]["wheel"]["py-api"]  # the first version with one wheel for all later ones
    assert PROJECT["tool"]["cibuildwheel"]["build"] == [f"cp3{minors[0]}-*", f"{abi}-*"]
    for page in ("docs/install.md", "Makefile"):
        assert oldest in read(page)


def test_oldest_versions_are_the_lower_bounds():
    bounds = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["test"]
    lowest = dict(bound.split(">=") for bound in bounds if isinstance(bound, str))
    text = read("tests/oldest.txt")
    pinned = dict(line.split("==") for line in text.splitlines() if not line.startswith("#"))
    assert {bound.split(">=")[0] for bound in PROJECT["project"]["dependencies"]} <= set(pinned)
    assert [name for name, version in pinned.items() if not f"{version}.".startswith(f"{lowest[name]}.")] == []


def classifiers():
    return PROJECT["project"]["classifiers"]


def test_every_target_is_explained_to_contributors():
    assert targets_in(read("CONTRIBUTING.md")) & TARGETS == TARGETS


def test_every_command_that_is_mentioned_exists():
    pages = [".ci/run", *(str(path.relative_to(ROOT)) for path in (ROOT / ".github").rglob("*.*"))]
    pages += ["README.md", "CONTRIBUTING.md", "docs/install.md"]
    assert len(pages) > 8
    for page in pages:
        told = set(re.findall(r"(?:`|\$ |run: |step \w+ |timeout \d+ )make ([a-z-]+)", read(page)))
        assert told <= TARGETS, page


def test_contributors_are_told_what_runs_on_every_change():
    steps = set(re.findall(r"^step .*make ([a-z-]+)", read(".ci/run"), re.M))
    (told,) = re.findall(r"^\| `\.ci/run` \| (.*) \|$", read("CONTRIBUTING.md"), re.M)
    assert targets_in(told) == steps
    assert "run: .ci/run" in read(".github/workflows/test.yml")
