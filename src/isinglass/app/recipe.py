"""What was chosen about a table, once: as arguments of `read_table`, as a command line and as Python code."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from isinglass.cli.options import OPTIONS
from isinglass.cli.values import spell_value

KINDS = ("ordinal", "nominal", "continuous")
TREATMENTS = ("impute", "drop", "zero")  # of missing cells
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
# A name that means itself in every option; others are spelled by their numbers.
_PLAIN = re.compile(r"(?!none$|column \d+$)[^\W\d_](?:[\w .\-/()']*[\w.)])?")
_CODE = re.compile(r"[^\s=](?:[^\n\r=]{0,98}[^\s=])?")  # of a missing answer; = separates it from its column


@dataclass(frozen=True)
class Choices:
    """What was chosen; columns by their places in the file."""

    kinds: Mapping[int, str] = field(default_factory=dict)
    left_out: frozenset[int] = frozenset()
    covariates: frozenset[int] = frozenset()  # adjusted for
    codes: Mapping[int, Sequence[str]] = field(default_factory=dict)  # of missing answers; -1: in all columns
    missing: str = "impute"
    weights: int | None = None
    weight_kind: str | None = None
    groups: int | None = None
    row_names: bool = True  # whether a column that seems to name the rows does
    resamples: int = 1000
    figure: str = "network"
    ending: str = "pdf"  # of the figure's file

    @classmethod
    def read(cls, record: Any, n_columns: int) -> Choices:
        """Check what a page sent; ValueError names what is wrong with it."""
        try:
            found = cls(**record)
            kinds = {int(key): kind for key, kind in found.kinds.items()}
            codes = {int(key): [*dict.fromkeys(words)] for key, words in found.codes.items() if words}
            left_out, covariates = frozenset(found.left_out), frozenset(found.covariates)
            found = replace(found, kinds=kinds, codes=codes, left_out=left_out, covariates=covariates)
            words = [word for words in codes.values() for word in words]
            places = [
                *kinds,
                *found.left_out,
                *found.covariates,
                *(j for j in (found.weights, found.groups) if j is not None),
            ]
            checks: list[tuple[str, Sequence[object], Iterable[object]]] = [
                ("a column", range(n_columns), places),
                ("a column or -1", range(-1, n_columns), codes),
                ("a short word for a missing answer", [word for word in words if _CODE.fullmatch(word)], words),
                ("a kind", KINDS, kinds.values()),
                ("a treatment", TREATMENTS, [found.missing]),
                ("a kind of weights", ("sampling", "counts"), [found.weight_kind] if found.weight_kind else []),
                ("yes or no", (True, False), [found.row_names]),
                ("from 1 to 100000", range(1, 100_001), [found.resamples]),
                ("a figure", tuple(FIGURES), [found.figure]),
                ("a format", ENDINGS, [found.ending]),
            ]
            for what, allowed, values in checks:
                for value in values:
                    if value not in allowed or type(value) is not type(allowed[0]):
                        raise ValueError(f"{str(value)[:40]!r} is not {what}.")
        except (TypeError, AttributeError) as error:
            raise ValueError(f"Choices are not as they must be: {error}.") from None
        if found.weights is not None and found.weights == found.groups:
            raise ValueError("Weights and groups must be different columns.")
        return found

    def record(self) -> dict[str, Any]:
        """Return what `read` reads."""
        return {**vars(self), "left_out": sorted(self.left_out), "covariates": sorted(self.covariates)}


@dataclass(frozen=True)
class Recipe:
    """A table, what was chosen about it, and what is made of it, under names that come from the file's."""

    file: str  # its name
    columns: Sequence[Mapping[str, Any]] = ()  # as `isinglass info` describes them, row names not counted
    named: bool = True  # whether the file has names of columns
    choices: Choices = Choices()

    @property
    def stem(self) -> str:
        """The name of the file without its endings."""
        return self.file.partition(".")[0]

    @property
    def figure_file(self) -> str:
        """The name of the figure's file."""
        return f"{self.choices.figure}.{self.choices.ending}"

    def look(self) -> list[str]:
        """Return the file, and the options to show all of its columns with."""
        return [self.file, *_words(self._known(self.choices.kinds))]

    def said(self, labels: bool = False) -> dict[str, Any]:
        """Return the arguments of `read_table`; with ``labels``, without the groups, which `compare` takes out."""
        chosen = self.choices
        taken = {chosen.weights, *((chosen.groups,) if labels else ())}
        gone = {*chosen.left_out, *(() if chosen.groups is None else (chosen.groups,))}
        nodes = [j for j in range(len(self.columns)) if j not in gone | taken]
        unstated = [j for j in nodes if j in chosen.kinds or not self.columns[j]["stated"]]
        kinds = {j: chosen.kinds.get(j) or self.columns[j]["kind"] for j in unstated}
        said: dict[str, Any] = {
            **self._known({j: kind for j, kind in kinds.items() if kind in KINDS}),
            "covariates": [self._key(j) for j in nodes if j in chosen.covariates],
            "drop": [self._key(j, taken) for j in sorted(gone - taken)],
            "encode": "auto" if "binary" in kinds.values() else None,
            "missing": chosen.missing if any(self.columns[j]["missing"] for j in nodes) else None,
        }
        if chosen.weights is not None:
            said |= {"weights": self._key(chosen.weights), "weight_kind": chosen.weight_kind}
        return {name: value for name, value in said.items() if value not in (None, []) or name == "id_column"}

    def _known(self, kinds: Mapping[int, str]) -> dict[str, Any]:
        """Return the arguments that say what the values of columns mean."""
        codes = {None if j < 0 else self._key(j): list(words) for j, words in self.choices.codes.items()}
        said: dict[str, Any] = {"kinds": self._ranges(kinds)} if kinds else {}
        said |= {"na_values": codes if codes.keys() - {None} else codes[None]} if codes else {}
        return said if self.choices.row_names else {**said, "id_column": None}

    def _key(self, j: int, taken: Iterable[int | None] = ()) -> str | int:
        """Return the name of a column; its number among those that are not ``taken`` if the name is no plain word."""
        name = self.columns[j]["name"]
        if self.named and _PLAIN.fullmatch(name) and sum(name == column["name"] for column in self.columns) == 1:
            return str(name)
        return j - sum(other is not None and other < j for other in taken)

    def _ranges(self, kinds: Mapping[int, str]) -> dict[str | int, str]:
        """Return kinds by column, three and more neighbors of one kind as a range."""
        found: dict[str | int, str] = {}
        for _, run in itertools.groupby(enumerate(sorted(kinds)), lambda item: (item[1] - item[0], kinds[item[1]])):
            places = [j for _, j in run]
            keys = [self._key(j) for j in places]
            if len(keys) > 2:
                keys = [":".join(spell_value(OPTIONS["weights"], key) for key in (keys[0], keys[-1]))]
            found |= dict.fromkeys(keys, kinds[places[0]])
        return found

    def commands(self, job: str) -> list[list[str]]:
        """Return the commands of a job: a fit, a bootstrap, a comparison of groups, or a figure."""
        stem, chosen = self.stem, self.choices
        words, resamples = _words(self.said(labels=job == "compare")), ["--resamples", str(chosen.resamples)]
        page = ["report", stem, self.file, *(["--bootstrap", f"{stem}-bootstrap"] if job == "bootstrap" else [])]
        page += ["-o", f"{stem}.html"]
        if job == "fit":
            return [["fit", self.file, *words, "-o", stem], page]
        if job == "bootstrap":
            return [["bootstrap", self.file, *words, "--kind", "all", *resamples, "-o", f"{stem}-bootstrap"], page]
        if job == "compare":
            groups = ["--groups", spell_value(OPTIONS["groups"], self._groups)]
            return [["compare", self.file, *words, *groups, *resamples, "-o", f"{stem}-groups"]]
        more = ["--bootstrap", f"{stem}-bootstrap"] if chosen.figure in RESAMPLED else []
        return [["plot", chosen.figure, stem, *more, "--width", WIDTH, "-o", f"{stem}-figures/{self.figure_file}"]]

    @property
    def _groups(self) -> str | int:
        assert self.choices.groups is not None
        return self._key(self.choices.groups)

    def code(self, job: str) -> str:
        """Return Python code that does the same as a job, after the code of the fit."""
        said, page = self.said(labels=job == "compare"), repr(f"{self.stem}.html")
        said |= {"labels": [self._groups]} if job == "compare" else {}
        arguments = [repr(self.file), *(f"{name}={value!r}" for name, value in said.items())]
        table = f"read_table({', '.join(arguments)})"
        table = table if len(table) < 80 else "read_table(\n    " + ",\n    ".join(arguments) + ",\n)"
        rows = "fit.imputation.table" if said.get("missing") == "impute" else "table"
        count = "n_boot" if job == "bootstrap" else "n_permutations"
        how = f"{count}={self.choices.resamples}, random_state=0, n_jobs=-1"
        lines = {
            "fit": [
                "from isinglass import Method, read_table, save\n",
                f"table = {table}",
                "fit = Method().fit(table)",
                f"save(fit, {self.stem + '.npz'!r})",
                f"fit.report({page}, {rows})",
            ],
            "bootstrap": [
                "from isinglass import bootstrap\n",
                f"resamples = bootstrap(table, Method(), {how})",
                f'drops = bootstrap(table, Method(), kind="case-drop", {how})',
                "more = dict(bootstrap=resamples, edge_table=resamples.edges(), case_drops=drops)",
                f"fit.report({page}, {rows}, **more)",
            ],
            "compare": [
                "from isinglass import compare_groups, report\n",
                f"by_group = {table}",
                "labels = next(iter(by_group.labels.values()))",
                f"comparison = compare_groups(by_group, labels, Method(), {how})",
                f"report.write_comparison(comparison, {self.stem + '-groups.html'!r})",
            ],
            "figure": [
                "from isinglass import plot\n",
                f"axes = {_DRAWING[self.choices.figure]}",
                f"axes.figure.savefig({self.figure_file!r}, dpi=300)",
            ],
        }
        return "\n".join([*lines[job], ""])


_AXES, _NAMES = f"plot.paper_axes({WIDTH})", "names=fit.network.without_covariates().names"
_DRAWING = {
    "network": f"plot.network(fit, {_AXES})",
    "centrality": f"plot.centrality(fit.network.without_covariates(), width={WIDTH})[0]",
    "path": f"plot.path(fit.path, {_AXES}, {_NAMES}, alpha=fit.solution.alpha)",
    "bootstrap": f"plot.bootstrap_intervals(resamples, {_AXES}, {_NAMES})",
    "differences": f"plot.bootstrap_differences(resamples, {_AXES}, {_NAMES})",
    "strength-differences": f'plot.bootstrap_differences(resamples, {_AXES}, of="strength", {_NAMES})',
    "stability": f"plot.stability(drops, {_AXES})",
}


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
