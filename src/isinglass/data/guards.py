"""Warnings about values and columns that probably do not mean what they seem to.

Each warning names the columns, the values and the argument to use; nothing is changed here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass._core import count_ones
from isinglass.arrays import Bytes, Mask
from isinglass.data.coding import ABSENT, Codes, Levels, Rule, Steps, Value
from isinglass.errors import DataWarning, MeaningWarning, setting, warn
from isinglass.variables import MAX_CATEGORIES, Variables

MANY_LEVELS = 12
"""Levels above which an ordered column may be a number."""
FEW_ROWS = 5
"""Rows below which the couplings of a category can hardly be estimated."""
ROWS_TO_JUDGE = 20
"""Rows below which there are no warnings: such a table can be read at a glance."""
MOST_ITEMS, MOST_ROWS = 300, 20_000
"""Ordered columns up to which reversed items are looked for, and rows that are enough for it."""
SKEWED = 2.0
"""Skewness beyond which normal scores of a continuous column are worth a thought; an exponential one has 2."""
REVERSED, MOSTLY = -0.1, 0.9
"""Mean correlation with the others below which an item is reversed, and share of positive ones in a battery."""
SELDOM_TWICE = 0.9
"""Share of different values above which a column probably names its rows."""
IDENTIFIER = "names rows?"
"""The note of such a column."""
SCREENED = 4096
"""Rows that are compared first; they rule out most pairs."""
AT_ONCE = 64
"""Columns that are copied together: one by one, each would read the memory of all."""
EXPECTED = 5.0
"""Expected rows with both columns 1 from which on two columns that are never 1 together are taken for indicators."""
MANY_ROWS, MANY_CELLS, MOST_OF_A_COLUMN = 0.1, 0.05, 0.5
"""Share of the rows dropped, and of all cells or those of a column taken for 0, above which there is a warning."""
FAR_SUM, MANY_COPIES = 2.0, 5.0
"""Ratios beyond which weights of unstated kind get a warning: sum of sampling weights to rows, and mean count."""
_WEIGHTS = {"counts": "counts of equal rows", "sampling": "sampling weights"}
_LISTED, _WRITTEN = 4, 8
"""Columns that a message lists, and entries of a mapping that it writes out."""
_COMMA = re.compile(r"[+-]?\d+,\d+")
_CODES = frozenset({77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999})
_DIGITS = frozenset({7, 8, 9})
"""Codes of one digit, which may also be answers."""
_NO_ANSWER = frozenset(
    re.split(
        r",\s*",
        "refused, refusal, refused to answer, dont know, do not know, dk, dk/na, no answer, not answered, "
        "inapplicable, not applicable, n/a, not asked, prefer not to say, prefer not to answer, rather not say, "
        "missing, none, unknown, no response, keine angabe, k.a, weiss nicht, verweigert, ne sait pas, sans réponse, "
        "non réponse, refus, nsp, no sabe, no contesta, ns/nc, non so, non risponde, weet niet, geen antwoord",
    )
)
WEIGHT = re.compile(r"(.*_)?(w|wt|wgt|weights?|gewicht|freq|frequency)(_.*|\d+)?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}[-/.]\d\d?[-/.]\d\d?([ T].*)?|\d\d?[-/.]\d\d?[-/.]\d{4}")


def missing_codes(values: Iterable[Value]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers outside a scale that look like codes of missing answers, certain ones and doubtful ones.

    Sure are -9 below 0 to 4 and 99 above 1 to 5; doubtful is 9 above 1 to 5, unless the scale has two points.

    Examples
    --------
    >>> missing_codes([1, 2, 3, 4, 5, 99]), missing_codes([-9, 0, 1, 2]), missing_codes([0, 1, 9])
    (((99,), ()), ((-9,), ()), ((9,), ()))
    >>> missing_codes([1, 2, 3, 4, 5, 8, 9]), missing_codes([1, 2, 3, 4, 5, 6, 7]), missing_codes([-2, -1, 0, 1, 2])
    (((), (8, 9)), ((), ()), ((), ()))
    >>> missing_codes([-999, *np.linspace(18.5, 40.5, 30)])
    ((-999,), ())
    """
    found = [value for value in values if not isinstance(value, str | None)]
    try:
        numbers = sorted({int(value) for value in found if float(value).is_integer()})
    except (TypeError, ValueError, OverflowError):
        return (), ()
    if len(numbers) < len(found):  # fractions: a code is farther from them than they are from each other
        ordered = sorted(map(float, found)) if len(found) > MANY_LEVELS else [0.0] * 3
        sides = ((ordered[0], ordered[1:]), (ordered[-1], ordered[:-1]))
        far = [end for end, rest in sides if min(abs(end - rest[0]), abs(end - rest[-1])) > rest[-1] - rest[0]]
        return tuple(int(end) for end in far if abs(end) in _CODES), ()
    scale = [number for number in numbers if number >= 0]
    below = [number for number in numbers if number < 0]
    if len(scale) < 2 or (below and (below[-1] > scale[0] - 2 or not set(map(abs, below)) <= _CODES | {*range(1, 10)})):
        below, scale = [], numbers
    for k in range(1, len(scale) - 1):  # a scale has two points at least
        top, rest = scale[k], set(scale[k + 1 :])
        gap = scale[k + 1] - top
        if rest <= _CODES | _DIGITS and max(rest) > 9 and scale[k + 1] > 9 and gap > max(1, top - scale[0]):
            return (*below, *sorted(rest)), ()
        if rest <= _DIGITS and gap > 1 and scale[: k + 1] == list(range(scale[0], top + 1)) and scale[0] in (0, 1):
            both = (*below, *sorted(rest))
            return (both, ()) if k == 1 else (tuple(below), tuple(sorted(rest)))
    return tuple(below), ()


def no_answers(values: Iterable[Value]) -> tuple[str, ...]:
    """Return the words that say that there was no answer: known ones, signs beside words, one or two beside numbers.

    Examples
    --------
    >>> no_answers(["yes", "no", "Don't know", "keine Angabe"]), no_answers(["yes", "no", "-"]), no_answers(["+", "-"])
    (("Don't know", 'keine Angabe'), ('-',), ())
    >>> no_answers([1, 2, 3, "x"])
    ('x',)
    """
    values = list(values)
    words = [value for value in values if isinstance(value, str)]
    if len(values) - len(words) > 2 >= len(words):
        return tuple(words)
    signs = {word for word in words if not any(map(str.isalnum, word))}
    return tuple(word for word in words if _plain(word) in _NO_ANSWER or (word in signs and len(signs) < len(words)))


def _plain(word: str) -> str:
    return " ".join(word.casefold().replace("'", "").replace("’", "").strip(" .()[]-").split())


def advise_missing(values: Iterable[Value]) -> str:
    """Return a sentence about values that probably stand for a missing answer, or nothing."""
    values = list(values)
    sure, doubtful = missing_codes(values)
    found = [*sure, *doubtful, *no_answers(values)]
    if not found:
        return ""
    shown, verb = _enumerate(found), "stands" if len(found) == 1 else "stand"
    return f" If {shown} {verb} for a missing answer, {_remedy(found)}."


def remark_identifier(n_distinct: int, n_rows: int, label: Hashable, is_first: bool) -> str:
    """Return a sentence about a column with a different value in almost every row, or nothing."""
    if n_rows < (2 if is_first else ROWS_TO_JUDGE) or n_distinct < SELDOM_TWICE * n_rows:
        return ""
    if is_first:
        return f" If it names the rows, pass {setting('id_column', 0)}."
    return (
        f" It has {n_distinct} different values in {n_rows} rows: if it holds row names, leave it out "
        f"({drop([label])})."
    )


def remark_decimals(values: Iterable[Value]) -> str:
    """Return a sentence about words that are numbers with a decimal comma, or nothing.

    Examples
    --------
    >>> remark_decimals(["0,5", "1,5"]) != "", remark_decimals(["a", "b"])
    (True, '')
    """
    found = next((value for value in values if isinstance(value, str) and _COMMA.fullmatch(value.strip())), None)
    if found is None:
        return ""
    python = 'decimal="," to read_table, or turn the texts of a frame into numbers'
    return f" If {found!r} is a number with a decimal comma, pass {setting('decimal', ',', python=python)}."


def warn_identifiers(columns: Mapping[Hashable, Sequence[Value]], n_rows: int) -> None:
    """Warn about columns, given with their values, that probably name the rows."""
    if columns and n_rows >= ROWS_TO_JUDGE:
        labels = list(columns)
        which, them = ("it names", "it") if len(labels) == 1 else ("they name", "them")
        numbers = [label for label, values in columns.items() if not any(isinstance(value, str) for value in values)]
        decimals = remark_decimals(value for values in columns.values() for value in values)
        other = f"; if {'it holds' if len(numbers) == 1 else 'they hold'} numbers, say so ({_continuous(numbers)})"
        _say(
            f"{_columns(labels, 'has', 'have')} a different value in almost every row: if {which} the rows, leave "
            f"{them} out ({drop(labels)}){other if numbers else ''}.{decimals}",
            labels,
            IDENTIFIER,
        )


def warn_weights(labels: Iterable[Hashable]) -> None:
    """Warn about a column of numbers, of which nothing was stated, that has the name of row weights or counts."""
    found = [label for label in labels if WEIGHT.fullmatch(str(label)) and not str(label)[-1].isdigit()]
    if len(found) == 1:  # more are a battery: w1, w2, w3
        _say(
            f"{_columns(found, 'looks', '')} like row weights: if it counts or weights the rows, pass "
            f"{setting('weights', found[0])}; if it is a variable, say so ({_continuous(found)}).",
            found,
            "weights?",
        )


def check_meaning(
    labels: Sequence[Hashable], levels: Mapping[int, Rule], values: Mapping[int, list[Value]], codes: Codes
) -> None:
    """Warn about the columns of a table that have categories: their rules, the values that occur, and all cells."""
    warn_codes({labels[j]: values[j] for j in levels})
    if len(codes) < ROWS_TO_JUDGE:
        return
    many = [labels[j] for j, rule in levels.items() if rule.kind == "ordinal" and len(rule.values) > MANY_LEVELS]
    if many:
        _say(
            f"{_columns(many, 'has', 'have')} more than {MANY_LEVELS} ordered levels: if these are numbers, say so "
            f"({_continuous(many)}); if they name something, leave them out ({drop(many)}).",
            many,
            "a number?",
        )
    dates = [labels[j] for j, rule in levels.items() if are_dates(rule.values)]
    if dates:
        _say(f"{_columns(dates, 'holds', 'hold')} dates: leave them out ({drop(dates)}).", dates, "dates")
    _warn_spellings({labels[j]: rule for j, rule in levels.items() if isinstance(rule, Levels)})
    _warn_rare({labels[j]: (rule, codes[:, j]) for j, rule in levels.items() if isinstance(rule, Levels)})
    _warn_skewed({labels[j]: (rule, codes[:, j]) for j, rule in levels.items() if isinstance(rule, Steps)})
    ordered = [j for j, rule in levels.items() if rule.kind == "ordinal"]
    if 4 <= len(ordered) <= MOST_ITEMS:
        some = slice(None, None, max(1, len(codes) // MOST_ROWS))
        _warn_reversed([labels[j] for j in ordered], [codes[some, j] for j in ordered])


def warn_measured(columns: Mapping[Hashable, Rule]) -> None:
    """Say which columns were read as numbers because they can be nothing else, and how."""
    names = list(columns)
    grids = [f"{name!r}: {describe_steps(rule)}" for name, rule in columns.items() if isinstance(rule, Steps)]
    more = f"; and {len(grids) - _LISTED} more" if len(grids) > _LISTED else ""
    them = "it" if len(names) == 1 else "them"
    weights = [name for name in names if WEIGHT.fullmatch(str(name))]
    hint = f" If {weights[0]!r} holds row weights, pass {setting('weights', weights[0])}." if weights else ""
    _say(
        f"{_columns(names, 'holds', 'hold')} numbers and {'is' if len(names) == 1 else 'are'} read as continuous "
        f"({'; '.join(grids[:_LISTED])}{more}). If this is what you want, pass "
        f"{_continuous(names)}; "
        f"otherwise cut {them} ({setting('binarize', python='binarize={…: …}')}), or leave {them} out ({drop(names)})."
        f"{hint}",
        names,
        "read as a number",
    )


def describe_steps(rule: Steps) -> str:
    """Say in words how the numbers of a column lie on a grid."""
    scale = "of normal scores " if rule.is_normal else ""
    ends = f"{rule.n_categories} steps {scale}from {rule.values[0]:g} to {rule.values[-1]:g}"
    return ", ".join([ends, *describe_tails(rule)])


def describe_tails(rule: Rule) -> list[str]:
    """Say in words how many rows are beyond the ends of a grid and count for its end steps, if some are."""
    below, above = rule.beyond if isinstance(rule, Steps) else (0, 0)
    each = [f"{n} {side}" for n, side in ((below, "below"), (above, "above")) if n]
    return [f"{' and '.join(each)} the grid"] if each else []


def warn_codes(columns: Mapping[Hashable, Sequence[Value]]) -> None:
    """Warn about codes and words of missing answers, columns with the same ones together."""
    found: dict[tuple[Value, ...], list[Hashable]] = defaultdict(list)
    doubts: dict[int, list[tuple[Hashable, tuple[int, ...]]]] = defaultdict(list)
    plain: dict[int, int] = defaultdict(int)  # columns without such a code, by the top of their scale
    for label, values in columns.items():
        sure, doubtful = missing_codes(values)
        if codes := (*sure, *no_answers(values)):
            found[codes].append(label)
        numbers = [v for v in values if not isinstance(v, str) and v not in sure and v not in doubtful]
        top = int(max(numbers)) if numbers else 0
        if doubtful:
            doubts[top].append((label, doubtful))
        else:
            plain[top] += 1
    for top, group in doubts.items():
        # 9 behind 1 to 5 leaves out more than an answer that was not given; 7 may be one.
        if len(group) > max(1, plain[top]) or min(min(codes) for _, codes in group) > top + 2:
            every = tuple(sorted({code for _, codes in group for code in codes}))
            found[every] += [label for label, _ in group]
    for codes, names in found.items():
        shown = [value for value in dict.fromkeys(v for label in names for v in columns[label]) if value not in codes]
        _say(
            f"{_columns(names, 'has', 'have')} {_enumerate(codes)} besides "
            f"{_enumerate(sorted(shown, key=str), most=5)}. If {'it stands' if len(codes) == 1 else 'they stand'} for "
            f"a missing answer, {_remedy(codes)}.",
            names,
            f"{_enumerate(codes, most=3)} missing?",
        )


def _warn_spellings(columns: Mapping[Hashable, Levels]) -> None:
    """Warn about categories that differ in case or blanks only."""
    for label, rule in columns.items():
        alike: dict[str, dict[str, int]] = defaultdict(dict)
        for word, code in sorted((word, code) for word, code in rule.entries.items() if isinstance(word, str)):
            alike[" ".join(word.casefold().split())][word] = code
        apart = next((same for same in alike.values() if len(set(same.values())) > 1), None)
        if apart is not None:
            numbers = {word: k for k, same in enumerate(alike.values()) for word in same}
            written = [{label: numbers}] if len(numbers) <= _WRITTEN else []
            remedy = setting("encode", *written, python=None if written else f"encode={{{label!r}: {{…}}}}")
            _say(
                f"{_columns([label], 'has', '')} {_enumerate(list(apart))}, which differ only in case or blanks. If "
                f"they are one answer, give them the same number: {remedy}.",
                [label],
                "spellings",
            )


def _warn_rare(columns: Mapping[Hashable, tuple[Levels, Codes]]) -> None:
    rare, where = [], []
    # The values of a column with a rare one put to another.
    example: tuple[Hashable, dict[Value, float | None]] | None = None
    for label, (rule, codes) in columns.items():
        if rule.n_categories > 2:
            for rows in (codes[:SCREENED], codes):  # most categories are not rare among the first rows
                counts = np.bincount(rows.astype(np.intp) + 2, minlength=rule.n_categories + 2)[2:]
                if counts.min() >= FEW_ROWS:
                    break
            few = np.flatnonzero((counts > 0) & (counts < FEW_ROWS))
            rare += [f"{label!r}: {rule.values[k]!r} ({counts[k]})" for k in few]
            where += [label] * bool(len(few))
            if len(few) and example is None and len(rule.entries) <= _WRITTEN:
                example = label, _merge(rule, int(few[0]))
    if rare:
        more = f" and {len(rare) - _LISTED} more" if len(rare) > _LISTED else ""
        remedy = setting("encode", python="encode={…: 0, …: 1, …: 1}")
        if example is not None:
            label, numbers = example
            others = [set(rule.entries) for rule, _ in columns.values()]
            fits_all = all(own <= set(numbers) or own.isdisjoint(numbers) for own in others)
            python = f"encode={{{label!r}: {numbers}}}"  # the command line says one thing of all columns
            remedy = (
                setting("encode", numbers, python=python) if fits_all else setting("encode of a column", python=python)
            )
        _say(
            f"some categories have fewer than {FEW_ROWS} rows: {', '.join(rare[:_LISTED])}{more}. Their couplings can "
            f"hardly be estimated. To merge categories, give them the same number: {remedy}.",
            where,
            "rare category",
        )


def _merge(rule: Levels, k: int) -> dict[Value, float | None]:
    """Return the numbers of values by which a category is put together with the one below, or above if it is the first.

    None stands for a missing answer.
    """
    numbers = [float(score) for score in rule.scores or range(rule.n_categories)]
    numbers[k] = numbers[k - 1] if k else numbers[1]
    short = [int(number) if number.is_integer() else number for number in numbers]
    ordered = sorted(rule.entries.items(), key=lambda entry: entry[1] % (rule.n_categories + 1))  # missing ones last
    return {value: None if code == ABSENT else short[code] for value, code in ordered}


def _warn_skewed(columns: Mapping[Hashable, tuple[Steps, Codes]]) -> None:
    """Warn about numbers with a long tail, in which couplings can hardly be linear."""
    found = []
    for label, (rule, codes) in columns.items():
        cells = codes[codes >= 0].astype(np.float64)
        away = cells - cells.mean()
        if not rule.is_normal and abs((away**3).mean()) > SKEWED * (away**2).mean() ** 1.5:
            found.append(label)
    if found:
        python = _mapping("scores", found, "normal")
        _say(
            f"{_columns(found, 'has', 'have')} a long tail, and couplings are linear in the values. Take "
            f"logarithms first, or use ranks instead with {setting('normal_scores', found, python=python)}.",
            found,
            "long tail",
        )


def _warn_reversed(labels: list[Hashable], columns: list[Codes]) -> None:
    """Warn about items that are negatively correlated with the others of their battery."""
    codes = np.stack(columns)
    cells = np.where(codes < 0, 0.0, codes)
    means = cells.sum(axis=1) / np.maximum((codes >= 0).sum(axis=1), 1)
    cells = np.where(codes < 0, 0.0, cells - means[:, None])
    size = np.sqrt((cells**2).sum(axis=1))
    if not size.all():
        return
    cells /= size[:, None]
    n = len(labels)
    correlations = cells @ cells.T
    np.fill_diagonal(correlations, 0.0)
    sign = np.ones(n)
    for _ in range(n):  # turn the item that is most against the others, until none is
        against = sign * (correlations @ sign)
        if against.min() >= 0:
            break
        sign[against.argmin()] *= -1
    sign *= 1 if sign.sum() >= 0 else -1
    turned = [labels[k] for k in np.flatnonzero((sign < 0) & (correlations @ sign < REVERSED * (n - 1)))]
    # In a battery nearly all correlations are positive once the reversed items are turned.
    positive = (np.outer(sign, sign) * correlations)[np.triu_indices(n, 1)] > 0
    if turned and 3 * len(turned) <= n and positive.mean() > MOSTLY:
        names = [str(label) for label in turned]
        _say(
            f"{_columns(turned, 'runs', 'run')} against the direction of the others: if the wording is "
            f"reversed, recode "
            f"{'it' if len(turned) == 1 else 'them'} with {setting('reverse', names)}.",
            turned,
            "reversed?",
        )


def are_dates(values: Sequence[Value]) -> bool:
    """Tell whether values are dates, as text."""
    words = [value for value in values if isinstance(value, str)]
    return len(words) > 1 and all(_DATE.fullmatch(word.strip()) for word in words)


def _remedy(codes: Sequence[Value]) -> str:
    """Say how to make codes missing: ``--na 99, --na 98``, in Python ``na_values=[99, 98]``."""
    python = [repr(code) for code in codes]
    python[0] = f"na_values=[{python[0]}"
    python[-1] += "]"
    return "pass " + ", ".join(
        setting("na_values", code, python=word) for code, word in zip(codes, python, strict=True)
    )


def _columns(labels: Sequence[Hashable], singular: str, plural: str) -> str:
    """Return the subject of a sentence, with its verb."""
    listed = ", ".join(map(repr, labels[:_LISTED]))
    listed += f" and {len(labels) - _LISTED} more" if len(labels) > _LISTED else ""
    return f"column {listed} {singular}" if len(labels) == 1 else f"{len(labels)} columns ({listed}) {plural}"


def _mapping(argument: str, labels: Sequence[Hashable], word: str) -> str:
    """Return an argument that says one thing of all columns, as Python has it; some of them if there are many."""
    more = ", …" if len(labels) > _LISTED else ""
    return f"{argument}={str(dict.fromkeys(labels[:_LISTED], word))[:-1]}{more}}}"


def _continuous(labels: Sequence[Hashable]) -> str:
    """Return the mention of the option by which columns are numbers."""
    return setting("continuous", labels, python=_mapping("kinds", labels, "continuous"))


def _enumerate(values: Sequence[Value], most: int = 8) -> str:
    shown = [repr(value) if isinstance(value, str) else f"{value:g}" for value in values]
    return ", ".join([*shown[:most], *(["…"] if len(shown) > most else [])])


def _say(text: str, columns: Sequence[Hashable], note: str) -> None:
    warn(MeaningWarning(text[0].upper() + text[1:], tuple(columns), note))


def dependent_columns(codes: Bytes, is_binary: Mask) -> list[list[int]]:
    """Return the groups of columns of which one determines the others: equal, opposite, or other names for the same.

    Columns of one value are in no group.

    Examples
    --------
    >>> dependent_columns(np.array([[0, 1, 2, 0], [1, 0, 1, 0], [0, 1, 2, 0]], dtype=np.uint8), np.array([1, 1, 0, 1]))
    [[0, 1, 2]]
    """
    groups = _alike(codes[:SCREENED], range(codes.shape[1]), is_binary, keep_constant=len(codes) > SCREENED)
    if len(codes) > SCREENED:
        groups = [group for some in groups for group in _alike(codes, some, is_binary)]
    return sorted(groups)


def _alike(codes: Bytes, columns: Sequence[int], is_binary: Mask, *, keep_constant: bool = False) -> list[list[int]]:
    """Return the groups of columns that partition the rows in the same way."""
    found: dict[bytes, list[int]] = {}
    for start in range(0, len(columns), AT_ONCE):
        some = columns[start : start + AT_ONCE]
        for j, column in zip(some, np.ascontiguousarray(codes[:, some].T), strict=True):
            same = _partition(column, is_binary[j])
            if keep_constant or same.any():
                found.setdefault(same.tobytes(), []).append(j)
    return [group for group in found.values() if len(group) > 1]


def _partition(column: NDArray[np.uint8], is_binary: bool) -> NDArray[np.uint8]:
    """Return the partition of the rows by category, whose parts are numbered by their first row."""
    if is_binary:
        return np.asarray(column ^ column[0], dtype=np.uint8)
    _, first, places = np.unique(column, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[places], dtype=np.uint8)


def indicator_sets(codes: Bytes, is_binary: Mask, names: Sequence[str] | None) -> list[tuple[list[int], bool]]:
    """Return sets of neighboring columns with one 1 in every row (True), or with at most one (False).

    The latter only if they would be together in several rows by chance, and two of them only if they are named alike.
    A column and its complement are no set.

    Examples
    --------
    >>> rows = np.eye(3, dtype=np.uint8)[np.arange(30) % 3]
    >>> indicator_sets(rows, np.ones(3, dtype=bool), ["a_red", "a_green", "a_blue"])
    [([0, 1, 2], True)]
    """
    n_rows, counts = len(codes), np.zeros(codes.shape[1])
    if is_binary.any():
        two = codes if is_binary.all() else np.ascontiguousarray(codes[:, is_binary])
        counts[is_binary] = count_ones(two, None)[0]
    varied = np.flatnonzero((counts > 0) & (counts < n_rows))
    if len(varied) < 2:
        return []
    some = np.packbits(codes[:SCREENED, varied], axis=0).T  # enough to see that most columns are no set
    stems = ["" if names is None else _stem(names[j]) for j in varied.tolist()]
    sizes = [int(count) for count in counts[varied]]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    found: list[tuple[list[int], bool]] = []
    k = 0
    while k < len(varied):
        end = int(np.searchsorted(ends, ends[k] + n_rows))  # where the ones would suffice for one in every row
        whole = 3 <= end - k < MAX_CATEGORIES and end < len(ends) and ends[end] == ends[k] + n_rows
        if whole and (codes[:SCREENED, varied[k:end]].any(axis=1)).all() and codes[:, varied[k:end]].any(axis=1).all():
            found.append((varied[k:end].tolist(), True))
            k = end
            continue
        begin, total, chance, seen = k, sizes[k], 0.0, some[k]
        k += 1
        while k < len(varied) and k - begin < MAX_CATEGORIES - 1:
            together, alike = total * sizes[k] / n_rows, stems[k] == stems[begin] != ""
            if not (together >= EXPECTED or alike) or (seen & some[k]).any():
                break
            if n_rows > SCREENED and codes[codes[:, varied[k]] > 0][:, varied[begin:k]].any():
                break
            total, chance, seen = total + sizes[k], chance + together, seen | some[k]
            k += 1
        if chance >= 2 * EXPECTED and (k - begin > 2 or stems[begin] == stems[k - 1] != "") and total < n_rows:
            found.append((varied[begin:k].tolist(), False))
        else:
            k = begin + 1
    return found


def _stem(name: str) -> str:
    """Return the part of a name before its last character that is neither a letter nor a digit."""
    return re.split(r"[\W_]+(?=[^\W_]*$)", name)[0] if re.search(r"[\W_]", name) else ""


def check_columns(codes: Bytes, variables: Variables, sources: Sequence[Sequence[str | int]] | None = None) -> None:
    """Warn about columns that are copies or opposites of others, and about sets of indicator columns.

    ``sources`` has the columns of the file or frame that each is made of, by name or number, if it is not one of them.
    """
    if len(codes) < ROWS_TO_JUDGE:
        return
    is_binary = np.array([kind == "binary" for kind in variables.kinds])
    labels: Sequence[Hashable] = variables.names if variables.named else range(variables.n_features)
    sets = indicator_sets(codes, is_binary, variables.names if variables.named else None)
    same = dependent_columns(codes, is_binary)
    if sets:
        members = [labels[j] for group, _ in sets for j in group]
        listed = "; ".join(_range(labels, group) for group, _ in sets[:_LISTED])
        more = f" and {len(sets) - _LISTED} more" if len(sets) > _LISTED else ""
        python = "as_table(…, combine_indicators=True), also in read_table"
        counted = "one variable" if len(sets) == 1 else f"{len(sets)} variables"
        _say(
            f"{len(members)} columns are indicators of {counted}, at most one of a set is 1 in any row: "
            f"{listed}{more}. Edges within a set hide those between variables: combine each set into one column with "
            f"{setting('combine_indicators', True, python=python)}.",
            members,
            "indicator",
        )
    if same:
        listed = "; ".join(" = ".join(map(repr, (labels[j] for j in group[:3]))) for group in same[:_LISTED])
        more = f" and {len(same) - _LISTED} more groups" if len(same) > _LISTED else ""
        others = [j for group in same for j in group[1:]]
        gone: list[Hashable] = [key for j in others for key in ([labels[j]] if sources is None else sources[j])]
        _say(
            f"{len(others) + len(same)} columns are copies or exact opposites of each other: {listed}{more}. Leave out "
            f"all but one of each group ({drop(gone)}).",
            [labels[j] for group in same for j in group],
            "duplicate",
        )


def drop(labels: Sequence[Hashable]) -> str:
    """Return the mention of the option that leaves columns out."""
    keys = [label if isinstance(label, int) else str(label) for label in labels]
    return setting("drop", keys, python=f"drop={keys} in read_table")


def _range(labels: Sequence[Hashable], group: Sequence[int]) -> str:
    return f"{labels[group[0]]!r} to {labels[group[-1]]!r} ({len(group)})"


def warn_dropped(gone: Mask, n_kept: int) -> None:
    """Say what was left out, where that is much."""
    n_rows, n_dropped = len(gone), len(gone) - n_kept
    if n_rows >= ROWS_TO_JUDGE and n_dropped > MANY_ROWS * n_rows:
        warn(
            DataWarning(
                f"{setting('missing', 'drop')} left out {n_dropped} of {n_rows} rows ({n_dropped / n_rows:.0%}) for "
                f"{int(gone.sum())} missing cells ({gone.mean():.1%}). The remaining rows may not be "
                f"representative. Choose {setting('missing', 'impute')} to use all answers."
            )
        )


def warn_zeroed(gone: Mask, where: Callable[[int], str]) -> None:
    """Say what became 0, where that can hardly be meant: whole rows, or many cells of a column."""
    empty, shares = int(gone.all(axis=1).sum()), gone.mean(axis=0)
    worst = int(shares.argmax())
    said = []
    if empty and gone.shape[1] > 1:
        said.append(f"{empty} of {len(gone)} rows have no answer at all and are now rows of 0")
    if len(gone) >= ROWS_TO_JUDGE and (shares.mean() > MANY_CELLS or shares[worst] > MOST_OF_A_COLUMN):
        said.append(
            f"{int(gone.sum())} missing cells ({gone.mean():.1%}) became 0, {shares[worst]:.0%} of the cells in "
            f"{where(worst)}"
        )
    if said:
        warn(
            DataWarning(
                f"{setting('missing', 'zero')}: {'; '.join(said)}. Unless a missing cell means 0, this hides "
                f"some dependences and creates spurious ones. Choose {setting('missing', 'impute')}."
            )
        )


def warn_of_kind(kind: str, total: float, effective: float, n_rows: int) -> None:
    """Say how weights of unknown kind are understood, where their sum is far from the number of rows."""
    if kind == "counts":
        if total < MANY_COPIES * n_rows:
            return
        taken = f"they are whole numbers and count as {total:.6g} rows"
        remedy = f"State what they are where the table is read: {setting('weight_kind', 'counts')} or "
    else:
        if n_rows / FAR_SUM <= total <= FAR_SUM * n_rows or abs(total - effective) <= 1e-9 * effective:
            return
        taken = f"they are not whole numbers, so their scale is ignored and they count as {effective:.6g} rows"
        remedy = "If this is what you want, state it where the table is read: "
    warn(
        MeaningWarning(
            f"The weights have the sum {total:.6g} over {n_rows} rows and are treated as {_WEIGHTS[kind]}: {taken}. "
            f"{remedy}{setting('weight_kind', 'sampling')}."
        )
    )
