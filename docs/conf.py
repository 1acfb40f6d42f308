"""Sphinx configuration. The build needs no network, and the pages need none either: formulas become MathML."""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

import isinglass

project = "isinglass"
author = "The isinglass developers"
copyright = "the isinglass developers"
version = release = isinglass.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the numpydoc sections state the types, in words
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"isinglass {release}"
html_math_renderer = "mathml"


def write_inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def write_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def keep_absolute_values(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Keep |θ| in a docstring from being read as a substitution: the bars become the mathematical character."""
    lines[:] = [re.sub(r"\|(?=\S)([^|]+?)(?<=\S)\|", r"∣\1∣", line) for line in lines]


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", keep_absolute_values)
    # Rejected: MathJax, which the browser would have to fetch; images, which need a LaTeX installation.
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
