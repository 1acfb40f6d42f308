"""Pages as one file: parts read from the package, put into a template, and admitted by their hashes."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files


def fill_template(name: str, parts: Mapping[str, str]) -> str:
    """Return a template with every ``@@PART@@`` filled in."""
    # One pass: what is put in is not searched again, so that a label cannot name a part.
    return re.sub("@@([A-Z]+)@@", lambda match: parts[match[1]], read_part(name))


def digest(text: str) -> str:
    """Return the hash by which the policy admits an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def read_part(name: str) -> str:
    """Return a file of this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
