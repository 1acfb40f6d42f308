"""Messages of the package in the words of the command line: options instead of parameters, and one line."""

from __future__ import annotations

import re
import shlex

__all__ = ["as_options", "plural", "printable"]

# Parameters of the package that are options here, by the same name.
OPTIONS = (
    *("missing", "encode", "coding", "encoding", "format", "delimiter", "penalty_weights"),
    *("tol", "max_iter", "alphas", "alpha_min_ratio", "threshold", "subsample_size", "burn_in", "thin"),
    *("max_rows", "max_columns", "max_bytes", "binarize", "weights", "drop", "id_column"),
)
# Parameters whose option has another name.
RENAMED = {"columns": "--column", "n_neighbours": "--degree", "n_links": "--degree", "coupling_range": "--strength"}
RENAMED |= {"n_nodes": "--nodes", "degree": "--degree", "strength": "--strength", "cv": "--folds", "gamma": "--gamma"}
RENAMED |= {"alpha": "--alpha"}
ABSENT = r"the table must have the columns of the model; \1 cannot be found in it"
# Python -> what the user of the command line knows it as; applied in this order.
PHRASES = (
    (r" \([^()]*read_table take it\)", ""),
    (r"\(None: missing\)", "(nothing: missing)"),
    (r"header=False", "--no-header"),
    (r"\b(drop)=\[(\d+)\]", lambda found: f"--drop '#{int(found[2]) + 1}'"),
    (r"id_column=0\b", "--id-column '#1'"),
    (r"encode=\{([^}]*)\}", lambda found: "--encode " + _spell_answers(found[1])),
    (r"binarize=…", "--binarize CUT"),
    (r"\b(format|delimiter)=(?=;|\.$|\. )", r"--\1"),
    (r"leave the column out", "leave the column out (--drop)"),
    (rf'\b({"|".join(OPTIONS)})="?([\w.-]+)"?', lambda found: f"--{found[1].replace('_', '-')} {found[2]}"),
    (rf"(?<=[Pp]ass )(finer |larger |smaller )?({'|'.join(OPTIONS)})\b", r"\1--\2"),
    (r"\b(subsample_size|alpha_min_ratio|burn_in|max_iter|max_rows|max_columns|max_bytes)\b", r"--\1"),
    (r"--[a-z_]+", lambda found: found[0].replace("_", "-")),
    (r"encode must name columns of X; got (.*), which X does not have", ABSENT),  # only a model names them
    (r"got '([^']*)'(.*) Add them, mapped to 0, 1 or None \(missing\)", r"got '\1'\2 Add \1=1, \1=0 or \1= (missing)"),
    (r"Add them, mapped to 0, 1 or None \(missing\)", "Add each as VALUE=1, VALUE=0 or VALUE= (missing)"),
    (r"n_nodes \* degree must", "--nodes times --degree must"),
    (r"\bX must", "the table must"),
    (rf"(?<![\w-])({'|'.join(OPTIONS)}) must", lambda found: f"--{found[1].replace('_', '-')} must"),
    (rf"(?<![\w-])({'|'.join(RENAMED)}) must", lambda found: f"{RENAMED[found[1]]} must"),
    (r"Pass groups as well", "Add --groups"),
    (r"\bpath must", "the file must"),
    (r"isinglass\.save wrote", "isinglass wrote"),
    (r"of the path function with functools\.partial", "with --tol or --max-iter"),
    (r"([Uu])se ising_path\b", r"\1se --method joint"),
)

QUOTES = "'\""


def as_options(message: str) -> str:
    """Return a message with options in place of parameters.

    Examples
    --------
    >>> as_options('X must have no missing cells. Choose missing="zero" (estimators and read_table take it).')
    'the table must have no missing cells. Choose --missing zero.'
    >>> as_options("Say which is 1, for example encode={'Yes': 1, 'No': 0}.")
    'Say which is 1, for example --encode Yes=1,No=0.'
    """
    text = " ".join(message.split())
    for pattern, phrase in PHRASES:
        text = re.sub(pattern, phrase, text)
    return text


def _spell_answers(entries: str) -> str:
    """Turn ``'Yes': 1, 'No': None`` into what --encode takes."""
    pairs = [entry.rpartition(": ") for entry in entries.split(", ")]
    return shlex.quote(",".join(f"{answer.strip(QUOTES)}={'' if bit == 'None' else bit}" for answer, _, bit in pairs))


def printable(text: str) -> str:
    r"""Return the text with control characters spelled out: a column name must not command the terminal.

    Examples
    --------
    >>> printable("naïve \x1b[2J")
    'naïve \\x1b[2J'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def plural(number: int, thing: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> plural(1, "edge"), plural(0, "edge")
    ('1 edge', '0 edges')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
