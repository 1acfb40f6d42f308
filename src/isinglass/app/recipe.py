"""What was chosen about a table, once: as arguments of `read_table`, as a command line and as Python code."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from isinglass.cli.options import OPTIONS
from isinglass.cli.values import spell_value

KINDS = ("ordinal", "nominal", "continuous")
TREATMENTS = ("impute", "drop", "zero")  # of missing cells
WEIGHT_KINDS = ("sampling", "counts")
FIGURES = {
    "network": "nodes and edges",
    "centrality": "measures of every node",
    "path": "couplings along the penalty",
    "bootstrap": "interval of every edge",
    "differences": "which edges differ",
    "strength-differences": "which nodes differ in strength",
    "stability": "measures as rows are dropped",
}
RESAMPLED = ("bootstrap", "differences", "strength-differences", "stability")  # figures that need a bootstrap
ENDINGS = ("pdf", "svg", "png")
WIDTH = "180"  # of a figure in print, in millimeters
MOST_CODES, LONGEST_CODE = 20, 100
MOST_RESAMPLES = 100_000
# A name that means itself in every option; others are spelled by their numbers.
_PLAIN = re.compile(r"[^\W\d_](?:[\w .\-/()']*[\w.)])?")


@dataclass(frozen=True)
class Column:
    """A column of the file, row names not counted."""

    name: str
    kind: str | None  # None: left out, because it can be nothing
    stated: bool  # whether fit needs no word about it


@dataclass(frozen=True)
class Choices:
    """What was chosen; columns by their places in the file."""

    kinds: Mapping[int, str] = field(default_factory=dict)
    left_out: frozenset[int] = frozenset()
    codes: Mapping[int | None, tuple[str, ...]] = field(default_factory=dict)  # of missing answers; None: everywhere
    missing: str = "impute"
    weights: int | None = None
    weight_kind: str | None = None
    groups: int | None = None
    row_names: bool = True  # whether a column that seems to name the rows does
    resamples: int = 1000
    figure: str = "network"
    ending: str = "pdf"  # of the figure's file

    @classmethod
    def read(cls, record: object, n_columns: int) -> Choices:
        """Check what a page sent; ValueError names what is wrong with it."""
        if not isinstance(record, Mapping) or record.keys() - cls.__dataclass_fields__.keys():
            raise ValueError("choices must be an object with known fields.")
        place = _one_of(range(n_columns), "a column")
        given = {
            "kinds": lambda value: {place(int(key)): _one_of(KINDS, "a kind")(kind) for key, kind in value.items()},
            "left_out": lambda value: frozenset(map(place, value)),
            "codes": lambda value: {
                None if key == "" else place(int(key)): _read_codes(codes) for key, codes in value.items() if codes
            },
            "missing": _one_of(TREATMENTS, "a treatment"),
            "weights": lambda value: None if value is None else place(value),
            "weight_kind": _one_of((None, *WEIGHT_KINDS), "a kind of weights"),
            "groups": lambda value: None if value is None else place(value),
            "row_names": _one_of((True, False), "yes or no"),
            "resamples": _one_of(range(1, MOST_RESAMPLES + 1), "a number of resamples"),
            "figure": _one_of(FIGURES, "a figure"),
            "ending": _one_of(ENDINGS, "a format"),
        }
        try:
            found = cls(**{name: given[name](value) for name, value in record.items()})
        except (TypeError, AttributeError, KeyError) as error:
            raise ValueError(f"choices are not as they must be: {error}.") from None
        if found.weights is not None and found.weights == found.groups:
            raise ValueError("Weights and groups must be different columns.")
        return found

    def record(self) -> dict[str, Any]:
        """Return what `read` reads, for the page."""
        codes = {"" if key is None else key: list(words) for key, words in self.codes.items()}
        return {**vars(self), "left_out": sorted(self.left_out), "codes": codes}

    def guessed(self, columns: Sequence[Column]) -> Choices:
        """Return the choices with columns left out that can be nothing."""
        hopeless = {j for j, column in enumerate(columns) if column.kind is None and j not in self.kinds}
        return replace(self, left_out=self.left_out | hopeless)


def _one_of(allowed: Collection[Any], what: str) -> Any:
    kinds = (bool,) if True in allowed and isinstance(allowed, tuple) else (int,) if isinstance(allowed, range) else ()

    def check(value: Any) -> Any:
        if value not in allowed or (kinds and type(value) not in kinds):
            raise ValueError(f"{str(value)[:40]!r} is not {what}.")
        return value

    return check


def _read_codes(words: Any) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(str(word).strip() for word in words))
    if len(found) > MOST_CODES or not all(0 < len(word) <= LONGEST_CODE and word.isprintable() for word in found):
        raise ValueError(f"Codes of missing answers must be at most {MOST_CODES} short words.")
    if any("=" in word for word in found):
        raise ValueError("A code of missing answers must not contain an equals sign.")
    return found


@dataclass(frozen=True)
class Recipe:
    """A table, what was chosen about it, and what is made of it, under names that come from the file's."""

    file: str  # its name
    columns: Sequence[Column] = ()
    named: bool = True  # whether the file has names of columns
    has_holes: bool = False
    choices: Choices = Choices()

    @property
    def stem(self) -> str:
        """The name of the file without its endings."""
        return self.file.partition(".")[0]

    def look(self) -> list[str]:
        """Return the file, and the options to show all of its columns with."""
        return [self.file, *_words(self._known(self.choices.kinds))]

    def said(self, labels: bool = False) -> dict[str, Any]:
        """Return the arguments of `read_table`; with ``labels``, without the groups, which `compare` takes out."""
        chosen = self.choices
        taken = {chosen.weights, *((chosen.groups,) if labels else ())}
        gone = {*chosen.left_out, *(() if chosen.groups is None else (chosen.groups,))}
        left_out = sorted(gone - taken)
        nodes = [j for j in range(len(self.columns)) if j not in gone | taken]
        kinds = {j: chosen.kinds.get(j) or self.columns[j].kind for j in nodes}
        found = {j: kind for j, kind in kinds.items() if j in chosen.kinds or not self.columns[j].stated}
        said: dict[str, Any] = {
            **self._known({j: kind for j, kind in found.items() if kind in KINDS}),
            "drop": [self._key(j, taken) for j in left_out],
            "encode": "auto" if "binary" in found.values() else None,
            "missing": chosen.missing if self.has_holes else None,
        }
        if chosen.weights is not None:
            said |= {"weights": self._key(chosen.weights), "weight_kind": chosen.weight_kind}
        return {name: value for name, value in said.items() if value not in (None, []) or name == "id_column"}

    def _known(self, kinds: Mapping[int, str]) -> dict[str, Any]:
        """Return the arguments that say what the values of columns mean."""
        codes = {None if j is None else self._key(j): list(words) for j, words in self.choices.codes.items()}
        said: dict[str, Any] = {"kinds": self._ranges(kinds)} if kinds else {}
        said |= {"na_values": codes if codes.keys() - {None} else codes[None]} if codes else {}
        return said if self.choices.row_names else {**said, "id_column": None}

    def _key(self, j: int, taken: Iterable[int | None] = ()) -> str | int:
        """Return the name of a column; its number among those that are not ``taken`` if the name is no plain word."""
        names = [column.name for column in self.columns]
        plain = self.named and _PLAIN.fullmatch(names[j]) and ", " not in names[j] and names[j] != "none"
        if plain and names.count(names[j]) == 1:
            return names[j]
        return j - sum(other is not None and other < j for other in taken)

    def _ranges(self, kinds: Mapping[int, str]) -> dict[str | int, str]:
        """Return kinds by column, three and more neighbors of one kind as a range."""
        found: dict[str | int, str] = {}
        for _, run in itertools.groupby(enumerate(sorted(kinds)), lambda item: (item[1] - item[0], kinds[item[1]])):
            places = [j for _, j in run]
            if len(places) > 2:
                ends = (self._key(places[0]), self._key(places[-1]))
                found[":".join(f"#{end + 1}" if isinstance(end, int) else end for end in ends)] = kinds[places[0]]
            else:
                found |= {self._key(j): kinds[j] for j in places}
        return found

    def words(self, labels: bool = False) -> list[str]:
        """Return the options of the command line that say the same."""
        return _words(self.said(labels))

    def fit(self) -> list[list[str]]:
        """Return the commands that fit the network and write its page."""
        return [["fit", self.file, *self.words(), "-o", self.stem], self._report()]

    def _report(self, *more: str) -> list[str]:
        return ["report", self.stem, self.file, *more, "-o", f"{self.stem}.html"]

    def bootstrap(self) -> list[list[str]]:
        """Return the commands that resample the rows and write the page again."""
        folder = f"{self.stem}-bootstrap"
        how = ["--kind", "all", "--resamples", str(self.choices.resamples), "-o", folder]
        return [["bootstrap", self.file, *self.words(), *how], self._report("--bootstrap", folder)]

    def compare(self) -> list[list[str]]:
        """Return the command that compares the groups."""
        groups = spell_value(OPTIONS["groups"], self._groups)
        how = ["--groups", groups, "--resamples", str(self.choices.resamples), "-o", f"{self.stem}-groups"]
        return [["compare", self.file, *self.words(labels=True), *how]]

    def figure(self) -> list[list[str]]:
        """Return the command that draws a figure for print."""
        kind = self.choices.figure
        more = ["--bootstrap", f"{self.stem}-bootstrap"] if kind in RESAMPLED else []
        target = f"{self.stem}-figures/{self.figure_file}"
        return [["plot", kind, self.stem, *more, "--width", WIDTH, "-o", target]]

    @property
    def figure_file(self) -> str:
        """The name of the figure's file."""
        return f"{self.choices.figure}.{self.choices.ending}"

    @property
    def _groups(self) -> str | int:
        assert self.choices.groups is not None
        return self._key(self.choices.groups)

    def commands(self, job: str) -> list[list[str]]:
        """Return the commands of a job."""
        return {"fit": self.fit, "bootstrap": self.bootstrap, "compare": self.compare, "figure": self.figure}[job]()

    def code(self, job: str) -> str:
        """Return Python code that does the same as a job, after the code of the fit."""
        return {
            "fit": self._fit_code,
            "bootstrap": self._bootstrap_code,
            "compare": self._compare_code,
            "figure": self._figure_code,
        }[job]()

    def _read(self, labels: bool = False) -> str:
        said = self.said(labels)
        if labels:
            said["labels"] = [self._groups]
        arguments = [repr(self.file), *(f"{name}={value!r}" for name, value in said.items())]
        line = f"read_table({', '.join(arguments)})"
        return line if len(line) < 80 else "read_table(\n    " + ",\n    ".join(arguments) + ",\n)"

    def _fit_code(self) -> str:
        return (
            "from isinglass import Method, read_table, save\n\n"
            f"table = {self._read()}\n"
            "fit = Method().fit(table)\n"
            f"save(fit, {self.stem + '.npz'!r})\n"
            f"fit.report({self.stem + '.html'!r}, table)\n"
        )

    def _bootstrap_code(self) -> str:
        return (
            "from isinglass import bootstrap\n\n"
            f"how = {{'n_boot': {self.choices.resamples}, 'random_state': 0, 'n_jobs': -1}}\n"
            "resamples = bootstrap(table, Method(), **how)\n"
            'drops = bootstrap(table, Method(), kind="case-drop", **how)\n'
            f"fit.report({self.stem + '.html'!r}, table, bootstrap=resamples, edge_table=resamples.edges(), "
            "case_drops=drops)\n"
        )

    def _compare_code(self) -> str:
        how = f"n_permutations={self.choices.resamples}, random_state=0, n_jobs=-1"
        return (
            "from isinglass import compare_groups, report\n\n"
            f"rows = {self._read(labels=True)}\n"
            f"comparison = compare_groups(rows, rows.labels[{str(self._groups)!r}], Method(), {how})\n"
            f"report.write_comparison(comparison, {self.stem + '-groups.html'!r})\n"
        )

    def _figure_code(self) -> str:
        names, axes = "names=fit.network.names", f"plot.paper_axes({WIDTH})"
        drawn = {
            "network": f"plot.network(fit, {axes})",
            "centrality": f"plot.centrality(fit.network, width={WIDTH})[0]",
            "path": f"plot.path(fit.path, {axes}, {names}, alpha=fit.solution.alpha)",
            "bootstrap": f"plot.bootstrap_intervals(resamples, {axes}, {names})",
            "differences": f"plot.bootstrap_differences(resamples, {axes}, {names})",
            "strength-differences": f'plot.bootstrap_differences(resamples, {axes}, of="strength", {names})',
            "stability": f"plot.stability(drops, {axes})",
        }[self.choices.figure]
        return f"from isinglass import plot\n\naxes = {drawn}\naxes.figure.savefig({self.figure_file!r}, dpi=300)\n"


def _words(said: Mapping[str, Any]) -> list[str]:
    """Return arguments of `read_table` as options."""
    words: list[str] = []
    for name, value in said.items():
        if name == "kinds":
            for kind in KINDS:
                keys = [key for key, each in value.items() if each == kind]
                words += [f"--{kind}", spell_value(OPTIONS[kind], keys)] if keys else []
        elif name == "na_values":
            for key, codes in (value if isinstance(value, Mapping) else {None: value}).items():
                prefix = "" if key is None else spell_value(OPTIONS["weights"], key) + "="
                words += [word for code in codes for word in ("--na", prefix + code)]
        else:
            option = OPTIONS[name]
            words += [max(option.opts, key=len), "none" if value is None else spell_value(option, value)]
    return words


def command_text(commands: Sequence[Sequence[str]]) -> str:
    """Return commands as they are typed into a shell, one per line."""
    return "\n".join(shlex.join(["isinglass", *words]) for words in commands)
