"""What README and the documentation show is what happens, and they name everything that is public."""

import doctest
import re
import tomllib
from pathlib import Path

import pytest

import isinglass

ROOT = Path(__file__).resolve().parents[1]


def python_blocks(text: str) -> list[str]:
    """Return the fenced blocks of a Markdown page that hold interpreter sessions."""
    return re.findall(r"^```(?:python|pycon)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/index.md",
        "docs/tables.md",
        "docs/missing.md",
        "docs/guide.md",
        "docs/estimators.md",
        "docs/simulation.md",
        "docs/selection.md",
        "docs/trusting.md",
        "docs/groups.md",
        "docs/coming-from-r.md",
        "docs/networks.md",
        "docs/plots.md",
        "docs/report.md",
    ],
)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages may write files
    text = (ROOT / page).read_text(encoding="utf-8")
    assert ">>>" in text
    names = {}  # a page is read from top to bottom: later blocks know what earlier ones defined
    for number, block in enumerate(python_blocks(text)):
        test = doctest.DocTestParser().get_doctest(block, {}, f"{page}, block {number}", page, 0)
        test.globs, report = names, []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        result = runner.run(test, out=report.append, clear_globs=False)
        assert result.attempted > 0
        assert result.failed == 0, "".join(report)


def test_examples_can_fail():
    (block,) = python_blocks("text\n```python\n>>> 1 + 1\n3\n```\n")
    test = doctest.DocTestParser().get_doctest(block, {}, "bad", None, 0)
    assert doctest.DocTestRunner().run(test, out=lambda text: None).failed == 1


def test_reference_names_everything_public():
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    missing = [name for name in isinglass.__all__ if name != "__version__" and not re.search(rf"\b{name}\b", reference)]
    assert missing == []


def test_contributing_names_every_module():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "isinglass"
    modules = [file.stem for file in source.glob("*.py") if file.stem != "__init__"]
    modules += [f"{file.parent.name}/" for file in source.glob("*/__init__.py")]
    core = source / "_core"
    kernels = [str(file.relative_to(core)) for pattern in ("*.cpp", "*.hpp") for file in core.rglob(pattern)]
    assert [name for name in modules + kernels if f"`{name}`" not in guide] == []


def test_relative_links_lead_somewhere():
    broken = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / link).exists():
                broken.append(f"{page.name}: {link}")
    assert broken == []


def test_versions_agree():
    for file in ("pyproject.toml", "CITATION.cff"):
        assert re.search(rf'^version(?: =|:) "?{isinglass.__version__}"?$', (ROOT / file).read_text(), re.MULTILINE)


def test_oldest_versions_are_the_lower_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    bounds = project["project"]["dependencies"] + project["dependency-groups"]["test"]
    lowest = dict(bound.split(">=") for bound in bounds if isinstance(bound, str))
    text = (ROOT / "tests" / "oldest.txt").read_text(encoding="utf-8")
    pinned = dict(line.split("==") for line in text.splitlines() if not line.startswith("#"))
    assert {bound.split(">=")[0] for bound in project["project"]["dependencies"]} <= set(pinned)
    assert [name for name, version in pinned.items() if not f"{version}.".startswith(f"{lowest[name]}.")] == []
