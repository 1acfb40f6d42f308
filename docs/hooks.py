"""What the build of the documentation does beyond Sphinx and its extensions.

Formulas become MathML, code in the text links to the reference, and the report on the Senate is made anew.
"""

import re
import sys
from functools import cache
from pathlib import Path

import live_report
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

import isinglass

MODULES = tuple(isinglass._SUBMODULES)
# Names that mean something else in a sentence: quantities, fields of results, commands.
PLAIN_WORDS = {"Path", "Style", "setting", "warn", "suppressed"} | set(MODULES)
NO_LINKS = {"cli", "changelog", "paper"}  # pages about something else of the same name


def name_public_modules() -> None:
    """Make `isinglass.plot` and its like importable by the names under which they are documented."""
    for name in MODULES:
        sys.modules.setdefault(f"isinglass.{name}", getattr(isinglass, name))


@cache
def link_targets() -> dict[str, str]:
    """Return what each name in a sentence or in the type of a parameter leads to."""
    targets = {name: f"isinglass.{name}" for name in isinglass._HOME}
    bare: dict[str, list[str]] = {}
    for module in MODULES:
        for name in getattr(isinglass, module).__all__:
            if name in isinglass._HOME or name == "MAX_NODES":
                continue
            targets[f"{module}.{name}"] = f"isinglass.{module}.{name}"
            if module not in ("objective", "exact") and ("_" in name or name[0].isupper()):
                bare.setdefault(name, []).append(f"isinglass.{module}.{name}")
    targets |= {name: found[0] for name, found in bare.items() if len(found) == 1 and name not in targets}
    for file in (Path(__file__).parent / "inventories").glob("*.txt"):
        for line in file.read_text(encoding="utf-8").splitlines()[3:]:
            full = line.split()[0]
            targets |= {full: full, full.rpartition(".")[2]: full}
    targets["IsingEstimator"] = "isinglass.estimators.base.IsingEstimator"
    targets |= {f"isinglass.{name}": target for name, target in targets.items() if target == f"isinglass.{name}"}
    return {name: target for name, target in targets.items() if name not in PLAIN_WORDS}


class LinkCode(SphinxPostTransform):
    """Turn `code` that names a public object, or calls one, into a link to its page."""

    default_priority = 5  # before references are resolved

    def run(self, **kwargs: object) -> None:
        if self.env.docname in NO_LINKS:
            return
        for literal in list(self.document.findall(nodes.literal)):
            found = re.match(r"([A-Za-z_][\w.]*)(\(.*\))?$", literal.astext(), re.DOTALL)
            target = link_targets().get(found[1]) if found else None
            if target is None or self.env.docname == f"api/generated/{target}" or is_linked(literal):
                continue
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refdoc=self.env.docname
            )
            literal.replace_self(link)
            link += literal


def is_linked(node: nodes.Node) -> bool:
    while node is not None:
        if isinstance(node, (nodes.reference, addnodes.pending_xref, nodes.title, addnodes.desc_signature)):
            return True
        node = node.parent
    return False


def write_inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def write_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def keep_absolute_values(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Keep |θ| in a docstring from being read as a substitution: the bars become the mathematical character."""
    lines[:] = [re.sub(r"\|(?=\S)([^|]+?)(?<=\S)\|", r"∣\1∣", line) for line in lines]


def skip_member(app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object) -> bool | None:
    """Leave out what scikit-learn adds, and fields of named tuples, which the docstring of their class describes."""
    from_sklearn = str(getattr(obj, "__module__", "")).startswith("sklearn")
    return True if from_sklearn or type(obj).__name__ == "_tuplegetter" else None


def write_live_report(app: Sphinx, exception: Exception | None) -> None:
    """Make the report that docs/report.md embeds, in this very build."""
    target = Path(app.outdir) / "live" / "senate.html"
    if exception is None and app.builder.format == "html":
        target.parent.mkdir(exist_ok=True)
        live_report.write_senate(target)


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", keep_absolute_values)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("build-finished", write_live_report)
    app.add_post_transform(LinkCode)
    # Rejected: MathJax, which the browser would have to fetch; images, which need a LaTeX installation.
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
