"""What README and the documentation show is what happens, and they name everything that is public."""

import doctest
import re
import textwrap
import tomllib
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

import isinglass
from isinglass.cli import COMMANDS, HELP

ROOT = Path(__file__).resolve().parents[1]


def python_blocks(text: str) -> list[str]:
    """Return the fenced blocks of a Markdown page that hold interpreter sessions."""
    return re.findall(r"^```(?:python|pycon)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


PAGES = sorted(
    str(file.relative_to(ROOT))
    for file in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    if ">>>" in file.read_text(encoding="utf-8")
)
SCHEDULER = "tcp://scheduler:8786"  # what the pages call a cluster


LONG_PAGES = ("docs/trusting.md", "docs/plots.md", "docs/estimators.md")


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.long if page in LONG_PAGES else []) for page in PAGES]
)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages may write files
    text = (ROOT / page).read_text(encoding="utf-8")
    with cluster_at(SCHEDULER) if SCHEDULER in "".join(python_blocks(text)) else nullcontext(SCHEDULER) as address:
        run_sessions(page, python_blocks(text.replace(SCHEDULER, address)))


def run_sessions(page: str, blocks: list[str]) -> None:
    """Run the sessions of a page from top to bottom: later blocks know what earlier ones defined."""
    names = {}
    for number, block in enumerate(blocks):
        test = doctest.DocTestParser().get_doctest(block, {}, f"{page}, block {number}", page, 0)
        test.globs, report = names, []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        result = runner.run(test, out=report.append, clear_globs=False)
        assert result.attempted > 0
        assert result.failed == 0, "".join(report)


@contextmanager
def cluster_at(name):
    """Start workers in this process and give their address; the name is what the reader of a page would type."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: dask)")
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**settings, protocol="tcp://", silence_logs="CRITICAL") as cluster:
        yield cluster.scheduler_address


def test_every_block_of_python_is_a_session():
    """A block that is not a session would not be run. Those beside R code have a test of their own."""
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for language, block in re.findall(
            r"^```(py\w*|\{code-block\} *py\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            assert language in ("python", "pycon"), f"{page.name}: {language}"
            assert block.startswith(">>> "), f"{page.name}: {block}"


def test_code_beside_r_runs():
    text = (ROOT / "docs" / "coming-from-r.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^  - ```python\n(.*?)^    ```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    model = isinglass.simulate.chain_network(6, strength=1.5, fields="balanced")
    names = {"X": isinglass.simulate.exact_sample(model, 200, random_state=0), "alpha": 0.05}
    for block in blocks:
        exec(textwrap.dedent(block), names)
    assert names["net"].converged


def test_examples_can_fail():
    (block,) = python_blocks("text\n```python\n>>> 1 + 1\n3\n```\n")
    test = doctest.DocTestParser().get_doctest(block, {}, "bad", None, 0)
    assert doctest.DocTestRunner().run(test, out=lambda text: None).failed == 1


def test_contributing_names_every_module():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "isinglass"
    modules = [file.stem for file in source.glob("*.py") if file.stem != "__init__"]
    modules += [f"{file.parent.name}/" for file in source.glob("*/__init__.py")]
    core = source / "_core"
    kernels = [str(file.relative_to(core)) for pattern in ("*.cpp", "*.hpp") for file in core.rglob(pattern)]
    assert [name for name in modules + kernels if f"`{name}`" not in guide] == []


def test_contributing_describes_packages_as_they_are():
    """A package, in its row or its own table, is described by each of its modules, and by nothing it does not have."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = dict(
        re.findall(r"^\| `([a-z/]+)/` \| (.*) \|$", guide.split("In `src/isinglass`")[1].split("\nIn `")[0], re.M)
    )
    assert {"data", "select", "show/plot"} <= rows.keys()
    own = re.compile(r"^In `src/isinglass/([a-z]+)`[^\n]*\n(.*?)(?=^In `|^Elsewhere)", re.M | re.S)
    for package, table in own.findall(guide):
        rows[package] = " ".join(line.split("|")[1] for line in re.findall(r"^\| `.*", table, re.M))
    wrong = []
    for package, row in rows.items():
        folder = ROOT / "src" / "isinglass" / package
        files = [*folder.glob("*.py"), *folder.glob("*.js")]
        commands = set(COMMANDS) if package == "cli" else set()  # one module per command
        told = set(re.findall(r"`([\w.]+)`", row))
        source = "\n".join(file.read_text(encoding="utf-8") for file in files)
        known = {file.stem for file in files} | {file.name for file in folder.iterdir()}
        known |= set(re.findall(r"^(?:def|class) (\w+)", source, re.M))
        silent = {file.stem for file in files if file.name not in told} - told - commands - {"__init__"}
        wrong += [f"{package}: {name}" for name in sorted(silent | (told - known))]
    assert wrong == []


def test_relative_links_lead_somewhere():
    broken = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / link).exists():
                broken.append(f"{page.name}: {link}")
    assert broken == []


def test_one_sentence_says_what_it_is():
    """README, documentation, package metadata, citation and the command say it in the same words."""
    with (ROOT / "pyproject.toml").open("rb") as stream:
        sentence = tomllib.load(stream)["project"]["description"]
    for page in ("README.md", "docs/index.md"):
        assert (ROOT / page).read_text(encoding="utf-8").split("\n\n")[1].replace("\n", " ") == sentence
    assert HELP.replace("\n", " ").startswith(sentence)
    assert f'abstract: "{sentence}"' in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
