"""Sphinx configuration. The build needs no network, and the pages need none either: see hooks.py."""

import logging
import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))
import hooks
import numpydoc.xref

import isinglass

hooks.name_public_modules()
logging.getLogger("isinglass").setLevel(logging.WARNING)  # a style of the theme turns all logs on
numpydoc.xref.DEFAULT_LINKS.clear()  # int and str need no link

project = "isinglass"
author = "The isinglass developers"
copyright = "the isinglass developers"
version = release = isinglass.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "joss", "templates", "**/*.ipynb", "**/*.py"]
templates_path = ["templates"]
default_role = "literal"
nitpicky = True  # a reference that leads nowhere is a warning, and a warning fails `make docs`

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the numpydoc sections state the types, in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_aliases = hooks.link_targets()
numpydoc_xref_ignore = "all"  # types are written in words; only the names above are links

# A few names for each package, in text files of our own: the build fetches nothing. tests/test_pages.py looks them up.
intersphinx_mapping = {
    name: (address, f"inventories/{name}.txt")
    for name, address in {
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "sklearn": "https://scikit-learn.org/stable/",
        "pandas": "https://pandas.pydata.org/docs/",
        "matplotlib": "https://matplotlib.org/stable/",
        "networkx": "https://networkx.org/documentation/stable/",
    }.items()
}

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/gallery"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": r"\.py$",  # all of them are run
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("isinglass",),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1000,
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib|list|tuple|NoneType",
    "reset_modules": ("matplotlib",),
}

html_theme = "furo"
html_title = f"isinglass {release}"
html_math_renderer = "mathml"
pygments_dark_style = "monokai"
html_static_path = ["static"]
html_css_files = ["pages.css"]


def setup(app: Sphinx) -> None:
    hooks.setup(app)
