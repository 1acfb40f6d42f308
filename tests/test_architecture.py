"""The layers of the package, read from its imports.

Every check is a plain function of sources, so that the last tests can feed it a bad snippet and see it fail.
"""

import ast
import functools
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import SimpleNamespace

import pytest

PACKAGE = "isinglass"
SOURCE = Path(__file__).resolve().parents[1] / "src" / PACKAGE

# From the bottom to the top. A module may import from its own layer and from the layers before it.
LAYERS = (
    ("_core",),
    ("version", "arrays", "errors", "arguments", "column_keys", "names", "json_text", "text_tables"),
    ("machine", "atomic", "storage"),
    (
        "data",
        "variables",
        "matching",
        "conditionals",
        "network",
        "pairs",
        "results",
        "records",
    ),
    ("penalties", "separation"),
    ("solve",),
    ("simulate", "evaluate", "datasets"),
    ("select", "fit", "fitted", "model_file"),  # a method makes a fit, and a fit knows its method
    ("estimators",),
    ("cli", "show", "export", "app"),
    # The public names, python -m isinglass, and modules that give others their public name.
    ("__init__", "__main__", "exact", "layout", "metrics", "objective", "plot", "report"),
)
RANK = {room: rank for rank, layer in enumerate(LAYERS) for room in layer}
EDGE = set(LAYERS[-2])
HEAVY = {"matplotlib", "networkx", "pandas", "rich", "click"}
EAGER = {"cli", "show"}  # the rooms that may load a heavy package as soon as they are imported
# Below the edge, inside a function only: the progress bar of long runs, and frames.
ON_DEMAND = {("select", "rich"), ("data", "pandas")}
PUBLIC_MODULES = ("exact", "layout", "metrics", "objective", "plot", "report", "select", "simulate")
REPLACING = {"replace", "set_params"}  # of settings and estimators: by their names
VAGUE = {"utils", "helpers", "common", "misc"}


@dataclass(frozen=True)
class Import:
    """One imported module, and whether it is loaded together with the importing one."""

    target: str
    eager: bool


def room_of(module: str) -> str:
    """Return the part of a dotted name that decides its layer: ``isinglass.select.criteria`` -> ``select``."""
    return [*module.split("."), "__init__"][1]


def read_package(root: Path = SOURCE) -> dict[str, str]:
    """Return the source of every module below ``root``; a package is called ``name.__init__``."""
    return {
        ".".join([PACKAGE, *file.relative_to(root).with_suffix("").parts]): file.read_text(encoding="utf-8")
        for file in sorted(root.rglob("*.py"))
    }


@functools.cache
def parse(source: str) -> ast.Module:
    """Return the tree of a module; every check looks at the same trees."""
    return ast.parse(source)


def is_type_checking(node: ast.AST) -> bool:
    """Tell whether ``node`` is ``if TYPE_CHECKING:``."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def walk_with_context(node: ast.AST, eager: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Yield every node with whether it runs when the module is loaded."""
    for child in ast.iter_child_nodes(node):
        deferred = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or is_type_checking(child)
        yield child, eager
        yield from walk_with_context(child, eager and not deferred)


@functools.cache
def import_statements(source: str) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Return the imports of a module, and whether each runs when it is loaded; three checks look at them."""
    return [each for each in walk_with_context(parse(source)) if isinstance(each[0], ast.Import | ast.ImportFrom)]


def imports_of(module: str, modules: Mapping[str, str]) -> list[Import]:
    """Return what a module imports, relative names resolved; ``from a import b`` is ``a.b`` if that is a module."""
    found = []
    for node, eager in import_statements(modules[module]):
        if isinstance(node, ast.Import):
            found += [Import(find_module(alias.name, modules) or alias.name, eager) for alias in node.names]
        else:
            start = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            for alias in node.names:
                target = find_module(f"{base}.{alias.name}", modules) or find_module(base, modules) or base
                found.append(Import(target, eager))
    return found


def find_module(name: str, modules: Mapping[str, str]) -> str | None:
    """Return the key under which a dotted name is stored, if it is a module of the package."""
    return next((key for key in (name, f"{name}.__init__") if key in modules), None)


def inner_imports(module: str, modules: Mapping[str, str]) -> set[str]:
    """Return the modules of the package that ``module`` imports."""
    return {i.target for i in imports_of(module, modules) if i.target.split(".")[0] == PACKAGE}


def misplaced_modules(modules: Mapping[str, str]) -> list[str]:
    """Name the modules that belong to no layer, or whose name says nothing."""
    wrong = [f"{module} belongs to no layer" for module in modules if room_of(module) not in RANK]
    wrong += [f"{module} has a vague name" for module in modules if VAGUE & {p.strip("_") for p in module.split(".")}]
    return wrong


# Methods of results that draw, or write a page or a text, load the room that does so when they are called, and so does
# log Z of a network, which may take sampling.
UPWARD = {("fitted", "show"), ("select", "show"), ("network", "evaluate")}


def upward_imports(modules: Mapping[str, str]) -> list[str]:
    """Name the imports that point to a higher layer; the core may import nothing but itself."""
    wrong = []
    for module in modules:
        room = room_of(module)
        for found in imports_of(module, modules):
            target = found.target
            if target.split(".")[0] != PACKAGE or (not found.eager and (room, room_of(target)) in UPWARD):
                continue
            above = RANK.get(room_of(target), len(LAYERS)) > RANK.get(room, -1)
            if above or (room == "_core" and room_of(target) != "_core"):
                wrong.append(f"{module} imports {target}")
    return wrong


def import_cycle(modules: Mapping[str, str]) -> list[str]:
    """Return one cycle of modules that need each other to be loaded, or nothing."""
    graph = {
        module: {i.target for i in imports_of(module, modules) if i.eager and i.target in modules} - {module}
        for module in modules
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def foreign_imports(modules: Mapping[str, str]) -> list[str]:
    """Name the imports of scikit-learn outside the estimators and of heavy packages where they do not belong."""
    wrong = []
    for module in modules:
        room = room_of(module)
        for found in imports_of(module, modules):
            library = found.target.split(".")[0]
            if library == "sklearn" and room != "estimators":
                wrong.append(f"{module} imports sklearn")
            allowed = room in EDGE or (room, library) in ON_DEMAND
            if library in HEAVY and (not allowed or (found.eager and room not in EAGER)):
                wrong.append(f"{module} imports {library}")
    return wrong


def print_calls(modules: Mapping[str, str]) -> list[str]:
    """Name the modules below the command line that print."""
    return [
        f"{module}:{node.lineno} prints"
        for module, source in modules.items()
        if room_of(module) != "cli"
        for node in ast.walk(parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]


HOME = {"Table": "data", "PartedTable": "data", "Network": "network", "Variables": "variables"}
HOME |= {"Solution": "results", "Fit": "fit"}


def class_tests(modules: Mapping[str, str]) -> list[str]:
    """Name the places outside the home of a record that ask whether something is one."""
    return [
        f"{module}:{node.lineno} asks for {name}"
        for module, source in modules.items()
        for node in ast.walk(parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        for name in sorted({each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)} & HOME.keys())
        if room_of(module) != HOME[name]
    ]


def unknown_types(modules: Mapping[str, str]) -> list[tuple[str, bool]]:
    """Return every Any in a signature, and whether a comment on its line says why."""
    found = []
    for module, source in modules.items():
        lines = source.splitlines()
        for node in ast.walk(parse(source)):
            if not isinstance(node, ast.FunctionDef):
                continue
            arguments = [each for each in ast.walk(node.args) if isinstance(each, ast.arg)]
            types = [each for each in (*(argument.annotation for argument in arguments), node.returns) if each]
            named = [each for type_ in types for each in ast.walk(type_) if isinstance(each, ast.Name)]
            unknown = [each for each in named if each.id == "Any"]
            found += [(f"{module}.{node.name}", "# Any:" in lines[each.lineno - 1]) for each in unknown]
    return found


CHECKS = (misplaced_modules, upward_imports, import_cycle, foreign_imports, print_calls)


@pytest.fixture(scope="module")
def modules():
    return read_package()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_package_passes(check, modules):
    assert check(modules) == []


def test_few_functions_ask_what_class_a_table_or_network_has(modules):
    places = {place.partition(" ")[0] for place in class_tests(modules)}
    assert 0 < len(places) <= 10, sorted(places)


def test_few_types_are_unknown_and_each_has_a_reason(modules):
    found = unknown_types(modules)
    assert 0 < len(found) <= 60
    assert [name for name, has_reason in found if not has_reason] == []


def test_package_is_read(modules):
    assert {"isinglass.__init__", "isinglass.errors", "isinglass.datasets.__init__"} <= set(modules)
    assert "isinglass.errors" in inner_imports("isinglass.network", modules)


def test_the_walk_of_a_table_names_functions_that_exist():
    page = (SOURCE.parents[1] / "docs" / "design.md").read_text(encoding="utf-8")
    section = page.partition("### From file to report")[2].partition("\n### ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    named = {name for row in rows for cell in row for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", cell)}
    assert len(rows) > 10
    for name in named:
        assert callable(pkgutil.resolve_name(f"{PACKAGE}.{name}"))


def lost_imports(sources: Mapping[str, str], modules: Mapping[str, str]) -> list[str]:
    """Name the imports of modules of the package that are gone, which mypy does not report."""
    wrong = []
    for place, source in sources.items():
        for node, _ in import_statements(source):
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            else:
                named = [] if node.level or node.module is None else [node.module]
            ours = [name for name in named if name.split(".")[0] == PACKAGE and name != f"{PACKAGE}._core._native"]
            wrong += [f"{place} imports {name}" for name in ours if find_module(name, modules) is None]
    return wrong


def read_code(root: Path) -> dict[str, str]:
    """Return all Python code of the project, and the imports in the sessions of its pages."""
    folders = ("src", "tests", "docs", "paper", "benchmarks", "examples", "tools")
    files = [*root.glob("*.md"), *(file for folder in folders for file in sorted((root / folder).rglob("*.*")))]
    found = {str(file): file.read_text(encoding="utf-8") for file in files if file.suffix in {".py", ".md"}}
    session = re.compile(r"^ *>>> ((?:from|import) isinglass[\w., ]*)$", re.MULTILINE)
    return {name: "\n".join(session.findall(text)) if name.endswith(".md") else text for name, text in found.items()}


def test_no_import_names_a_module_that_is_gone(modules):
    sources = read_code(SOURCE.parents[1])
    assert len(sources) > 300
    assert lost_imports(sources, modules) == []
    good = "from isinglass.network import Network\nimport isinglass.solve.path\nfrom isinglass import select"
    bad = "def f():\n    from isinglass.select.folder import shares\n    import isinglass.paths"
    lost = ["bad imports isinglass.select.folder", "bad imports isinglass.paths"]
    assert lost_imports({"good": good, "bad": bad}, modules) == lost


def read_rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading."""
    text = (SOURCE.parents[1] / page).read_text(encoding="utf-8").partition(f"{heading}\n")[2]
    return [line.split("|")[1:-1] for line in text[text.index("\n|") :].partition("\n\n")[0].splitlines()[3:]]


def test_the_tables_of_modules_name_every_one_once_and_none_that_is_gone(modules):
    layers = [name for row in read_rows("docs/design.md", "## The modules") for name in re.findall(r"`(\w+)`", row[1])]
    assert sorted(layers) == sorted(RANK)
    rows = read_rows("CONTRIBUTING.md", "## Where to look")
    rooms = [name for row in rows for name in re.findall(r"`([\w/]+?)/?`", row[0])]
    assert {*RANK} - {"__init__"} <= {*rooms}
    assert [name for name in rooms if find_module(f"{PACKAGE}.{name}".replace("/", "."), modules) is None] == []
    folders = {row[1]: SOURCE / re.findall(r"`([\w/]+)/`", row[0])[0] for row in rows if row[0].endswith("/` ")}
    inner = [folder / name for cell, folder in folders.items() for name in re.findall(r"`([a-z_]+)` \(", cell)]
    assert len(inner) > 50
    assert [place for place in inner if not [*place.parent.glob(f"{place.name}.*")]] == []
    records = read_rows("docs/design.md", "## The records") + read_rows("docs/design.md", "### How a table is read")
    files = re.findall(r"`([\w/]+\.py)`", str(records))
    assert len(files) > 10
    assert [name for name in files if not (SOURCE / name).is_file()] == []


def loaded_by(statement: str) -> set[str]:
    """Return the modules a fresh interpreter has loaded after ``statement``."""
    code = f"{statement}\nimport sys\nsys.stdout.write('\\n'.join(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


def test_importing_the_package_is_cheap():
    loaded = loaded_by("import isinglass")
    assert "isinglass" in loaded
    assert not {"scipy", "sklearn", "isinglass._core"} & loaded
    assert not HEAVY & {name.split(".")[0] for name in loaded}


def test_loaded_by_sees_what_is_loaded():
    assert "isinglass.errors" in loaded_by("import isinglass; isinglass.errors")


def test_public_names_are_known_to_type_checkers():
    """What is loaded on first use is imported under TYPE_CHECKING, under the same names."""
    import isinglass

    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if is_type_checking(node)]
    named = {alias.asname for node in block.body for alias in node.names}
    assert named == {*isinglass._HOME, *isinglass._SUBMODULES}


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_public_modules_can_be_imported(name):
    import isinglass

    assert importlib.import_module(f"isinglass.{name}") is getattr(isinglass, name)


@pytest.mark.long
def test_type_checkers_see_signatures(tmp_path):
    """A mistyped parameter is an error before anything is run."""
    api = pytest.importorskip("mypy.api")
    file = tmp_path / "wrong.py"
    file.write_text("from isinglass import IsingNetwork, Method\nIsingNetwork(gama=1)\nMethod(tolerance=1)\n")
    text, _, _ = api.run([str(file)])  # with the cache of `make check`, if there is one
    assert 'Unexpected keyword argument "gama" for "IsingNetwork"' in text
    assert 'Unexpected keyword argument "tolerance" for "Method"' in text


def test_public_names_exist():
    import isinglass

    for name in isinglass.__all__:
        getattr(isinglass, name)


def test_names_in_messages_and_docstrings_exist():
    texts = [
        node.value
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    names = {name for text in texts for name in re.findall(r"\bisinglass(?:\.[A-Za-z_]\w*)+", text)}
    assert "isinglass.select.pool" in names
    for name in names - {"isinglass.zip"}:  # the name of a file
        pkgutil.resolve_name(name)


def open_ended(module) -> Iterator[str]:
    """Name what is public in a module and takes keywords that its signature does not list."""
    for name in module.__all__:
        found = getattr(module, name)
        methods = dict(inspect.getmembers(found, inspect.isroutine)) if inspect.isclass(found) else {}
        for label, one in {"": found, **methods}.items():
            ours = (getattr(one, "__module__", None) or "").startswith(PACKAGE) and not label.startswith("_")
            if ours and callable(one) and label not in REPLACING:
                kinds = {parameter.kind for parameter in inspect.signature(one).parameters.values()}
                if inspect.Parameter.VAR_KEYWORD in kinds:
                    yield f"{module.__name__}.{name}{'.' if label else ''}{label}"


@pytest.mark.parametrize("name", ["", *(f".{name}" for name in PUBLIC_MODULES)])
def test_signatures_list_every_keyword(name):
    assert [*open_ended(importlib.import_module(PACKAGE + name))] == []


def test_keywords_that_are_not_listed_are_found():
    from isinglass import Network

    class Open(Network):
        def draw(self, **options): ...

    Open.draw.__module__ = PACKAGE
    module = SimpleNamespace(__name__="open", __all__=["Open"], Open=Open)
    assert [*open_ended(module)] == ["open.Open.draw"]


# The checks can fail: one bad package per rule.
OK = {"isinglass.__init__": "", "isinglass.errors": "", "isinglass.solve.path": ""}
BAD = [
    (misplaced_modules, {"isinglass.novelty": ""}),
    (misplaced_modules, {"isinglass.select.helpers": ""}),
    (misplaced_modules, {"isinglass.select._utils": ""}),
    (upward_imports, {"isinglass.network": "import isinglass.solve.path"}),
    (upward_imports, {"isinglass.network": "from isinglass import path"}),
    (upward_imports, {"isinglass.network": "from isinglass import ising_path"}),
    (upward_imports, {"isinglass.network": "from . import path"}),
    (upward_imports, {"isinglass.network": "def f():\n    from isinglass.solve.path import ising_path"}),
    (upward_imports, {"isinglass.network": "if TYPE_CHECKING:\n    from isinglass.solve.path import ising_path"}),
    (
        upward_imports,
        {"isinglass.select.__init__": "", "isinglass.select.criteria": "from ..estimators import IsingLasso"},
    ),
    (upward_imports, {"isinglass.show.plot": "", "isinglass.fitted": "from isinglass.show import plot"}),
    (upward_imports, {"isinglass._core.__init__": "from isinglass.errors import DataError"}),
    (upward_imports, {"isinglass._core.__init__": "", "isinglass._core.table": "from .. import errors"}),
    (import_cycle, {"isinglass.network": "import isinglass.results", "isinglass.results": "from . import network"}),
    (foreign_imports, {"isinglass.solve.path": "from sklearn.base import BaseEstimator"}),
    (foreign_imports, {"isinglass.solve.path": "def f():\n    import sklearn"}),
    (foreign_imports, {"isinglass.evaluate.nodes": "import matplotlib.pyplot"}),
    (foreign_imports, {"isinglass.evaluate.nodes": "def f():\n    import pandas"}),
    (foreign_imports, {"isinglass.export.__init__": "import networkx"}),
    (foreign_imports, {"isinglass.select.progress": "import rich"}),
    (foreign_imports, {"isinglass.select.parallel": "def f():\n    import pandas"}),
    (print_calls, {"isinglass.solve.path": "def f():\n    print(1)"}),
]


@pytest.mark.parametrize(("check", "bad"), BAD)
def test_checks_can_fail(check, bad):
    assert check(OK) == []
    assert check({**OK, **bad}) != []


GOOD = [
    {
        "isinglass.penalties": "from isinglass.network import Network",
        "isinglass.network": "from .errors import DataError",
    },
    {"isinglass._core.__init__": "from isinglass._core import _native\nfrom ._native import gradient"},
    {"isinglass.estimators": "from sklearn.base import BaseEstimator"},
    {"isinglass.cli.__init__": "import click\ndef f():\n    import rich\n    print(1)"},
    {"isinglass.export.__init__": "def f():\n    import networkx"},
    {"isinglass.select.progress": "def f():\n    import rich"},
    {"isinglass.show.plot": "", "isinglass.fitted": "def f():\n    from isinglass.show import plot"},
    {"isinglass.data.files.__init__": "if TYPE_CHECKING:\n    import pandas"},
]


@pytest.mark.parametrize("good", GOOD)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_checks_accept_what_is_allowed(check, good):
    assert check({**OK, **good}) == []
