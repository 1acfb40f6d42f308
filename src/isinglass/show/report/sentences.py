"""The sentences that the methods text of a fit shares with that of a comparison of groups, and what they cite."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain

import numpy as np

from isinglass.arrays import IntArray
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.rules import Cut, Levels, Rule, Steps
from isinglass.data.meaning.values import show_span
from isinglass.errors import join_words, plural, times
from isinglass.network import Network
from isinglass.records import Missing
from isinglass.results import Solution
from isinglass.select.method import Method
from isinglass.variables import KINDS, Variables
from isinglass.version import YEAR, __version__

ESTIMATES = {
    "joint": "by maximizing the L1-penalized pseudo-likelihood",
    "nodewise": "by an L1-penalized logistic regression of every variable on all others",
    "exact": "by maximizing the L1-penalized likelihood, computed by enumeration",
}
REGRESSIONS = {
    "binary": "logistic",
    "ordinal": "adjacent-category logistic",
    "nominal": "multinomial logistic",
    "continuous": "adjacent-category logistic on a grid",
}
SHOWN, MOST_TURNED = 6, 30  # columns whose values are listed one by one, and reversed items that are named


@dataclass(frozen=True)
class Draft:
    """A text with citations, made by `cite`."""

    written: str

    @classmethod
    def of(cls, *parts: Iterable[str]) -> Draft:
        """Return the paragraph of these sentences."""
        return cls(" ".join(chain.from_iterable(parts)))

    @property
    def text(self) -> str:
        """The text, in which a citation shares one pair of parentheses with what is in some beside it."""
        known = "|".join(re.escape(each["cited"]) for each in references().values())
        return re.sub(rf"({known})\) \(", r"\1; ", re.sub(rf"\) \((?={known})", "; ", self.written))

    @property
    def references(self) -> str:
        """What to cite, a line each: this version of the package, and what the text cites."""
        own = f"The isinglass developers. ({YEAR}). isinglass (version {__version__}) [Computer software]."
        cited = (each["reference"] for each in references().values() if each["cited"] in self.written)
        return "\n".join([own, *sorted(cited, key=str.casefold)])

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.references}\n"


def cite(*keys: str) -> str:
    """Return the citation of some references in parentheses, to be put into a sentence."""
    return f"({'; '.join(sorted(references()[key]['cited'] for key in keys))})"


@cache
def references() -> dict[str, dict[str, str]]:
    """Return what texts cite, by its key: how it is cited, and the reference."""
    known: dict[str, dict[str, str]] = json.loads(
        files(__package__).joinpath("references.json").read_text(encoding="utf-8")
    )
    return known


def say_model(
    solutions: Sequence[Solution], method: Method, covariates: Sequence[str], estimated: str
) -> Iterator[str]:
    """Say what was estimated, and by which criterion.

    ``solutions`` are one, or that of every group, without covariates; a ``method`` that is None is a function.
    ``estimated`` says from what; the sentence goes on with how.
    """
    network, kinds = solutions[0].network, set(solutions[0].network.kinds)
    model, ising, subject = "A pairwise Markov network", " (Ising model)", "The network is"
    if len(solutions) > 1:
        model, ising, subject = "Pairwise Markov networks", " (Ising models)", "The networks are"
    ising = ising if kinds == {"binary"} else ""
    mixed = f" {cite('mixed')}" if len(kinds) > 1 or "nominal" in kinds else ""
    how = _name_estimator(method, kinds)
    yield f"{model}{ising}{mixed} of {_count_columns(network)} {estimated} {how}, using isinglass {__version__}."
    if "nominal" in kinds:
        instead = " instead" if len(kinds) > 1 else ""
        yield (
            f"A pair with a nominal variable has a table of couplings{instead}, penalized by its norm (√2 times "
            "the Frobenius norm, 2 times for two nominal variables)."
        )
    if isinstance(method.penalty_weights, str):
        yield "Penalties were weighted by the standard deviations of the variables."
    elif method.penalty_weights is not None:
        yield "Penalty weights were given for every pair."
    if method.estimator == "nodewise":
        yield f"The two estimates of a pair were combined by the {method.rule.upper()} rule."
    if covariates:
        were = "was" if len(covariates) == 1 else "were"
        listed = _list_variables(covariates)
        yield f"{subject} adjusted for {listed}, which {were} conditioned on and not modeled, without a penalty."


def _name_estimator(method: Method, kinds: Collection[str]) -> str:
    """Say what was maximized; regressions have the likelihood of their variable's kind."""
    is_binary = kinds == {"binary"}
    if method.estimator == "nodewise":
        if is_binary:
            return f"{ESTIMATES['nodewise']} {cite('node-wise')}"
        present = ", ".join(REGRESSIONS[kind] for kind in KINDS if kind in kinds)
        return f"by a penalized regression of every variable on all others ({present}) {cite('node-wise-mixed')}"
    cited = ["pseudo-likelihood", "paper"] if method.estimator == "joint" and is_binary else ["pseudo-likelihood"]
    coupling = "" if kinds == {"nominal"} else ", with one coupling per pair of variables"
    return f"{ESTIMATES[method.estimator]} {cite(*cited)}{coupling}"


def _count_columns(network: Network) -> str:
    """Say how many variables of which kind the network has."""
    parts, kinds = [], np.array(network.kinds)
    for kind in KINDS:
        sizes = network.variables.sizes[kinds == kind]
        if len(sizes):
            size = f" ({_span(sizes)} categories)" if kind in ("ordinal", "nominal") else ""
            parts.append(f"{plural(len(sizes), f'{kind} variable')}{size}")
    return join_words(parts)


def _span(sizes: Sequence[int] | IntArray) -> str:
    low, high = min(sizes), max(sizes)
    return f"{low} to {high}" if low < high else f"{low}"


def say_reading(network: Network, rules: Mapping[str, Rule]) -> Iterator[str]:
    """Say how the columns were read, by the rules of their names, and what is assumed about their values."""
    levels = {name: rule for name, rule in rules.items() if isinstance(rule, Levels) and not rule.is_plain}
    pairs = {name: rule.pair for name, rule in levels.items() if rule.kind == "binary"}
    bits = {name: f"1 stands for {_value(one)} and 0 for {_value(zero)}" for name, (zero, one) in pairs.items()}
    yield from _say_once(bits, len(rules))
    cuts = {name: rule.threshold for name, rule in rules.items() if isinstance(rule, Cut)}
    yield from _say_once(
        {name: f"1 stands for values above {threshold:g}" for name, threshold in cuts.items()}, len(rules)
    )
    if "ordinal" in network.kinds:
        yield _say_ordinal(network.variables)
    turned = [name for name, rule in rules.items() if isinstance(rule, Levels) and rule.is_reversed]
    if turned and "ordinal" in network.kinds:
        yield f"The categories of {_list_variables(turned, MOST_TURNED)} were taken in reverse order."
    modeled = set(network.names)
    grids = {name: rule for name, rule in rules.items() if isinstance(rule, Steps) and name in modeled}
    if grids:
        yield from _say_continuous(grids)


def say_combined(coding: Coding | None) -> Iterator[str]:
    """Say which columns were made of indicators."""
    for name, members in zip(coding.names or (), coding.members, strict=False) if coding else ():
        if len(members) > 1:
            yield f"{name} was made of {len(members)} indicator columns."


def _value(value: object) -> str:
    values = value if isinstance(value, tuple) else (value,)
    number = "the values " if len(values) > 1 else "the value "
    return ("" if isinstance(values[0], str | None) else number) + " or ".join(
        "no value of the table" if one is None else repr(one) for one in values
    )


def _say_once(said: dict[str, str], n_columns: int) -> Iterator[str]:
    """Yield one sentence if all columns say the same, a list if there are few, else one that counts them."""
    words = set(said.values())
    if not said:
        return
    if len(words) == 1:
        where = "In all variables" if len(said) == n_columns else f"In {_list_variables(list(said))}"
        yield f"{where}, {words.pop()}."
    elif len(said) <= SHOWN:
        yield "I" + "; ".join(f"in {name}, {what}" for name, what in said.items())[1:] + "."
    else:
        yield f"What stands for 1 differs between {len(said)} variables and is listed in the model file (fit.coding)."


def _list_variables(names: Sequence[str], most: int = SHOWN) -> str:
    return f"{len(names)} variables" if len(names) > most else join_words(names)


def _say_ordinal(variables: Variables) -> str:
    """Say what is assumed about ordered categories."""
    scores = [scores for kind, scores in zip(variables.kinds, variables.scores, strict=True) if kind == "ordinal"]
    spacing = f"scores that are not all equally spaced {cite('scores')}"
    if all(np.allclose(np.diff(np.array(each), 2), 0.0) for each in scores):
        spacing = f"equally spaced scores {cite('ordinal', 'scores')}"
    return (
        "Every category of an ordinal variable has a threshold of its own; couplings are linear in the categories, "
        f"which entered with {spacing}."
    )


def _say_continuous(rules: Mapping[str, Steps]) -> Iterator[str]:
    """Say on which grids continuous variables lie, and how many values are beyond their ends."""
    sizes = [rule.n_categories for rule in rules.values()]
    each = {name: f"{rule.n_categories} " * (min(sizes) < max(sizes)) for name, rule in rules.items()}
    ends = {name: show_span(rule.values[0], rule.values[-1]).replace("-", "−") for name, rule in rules.items()}
    listed = "; ".join(f"{name} {each[name]}from {ends[name]}" for name in rules)
    normal = [name for name, rule in rules.items() if rule.is_normal]
    entered = "scores" if len(normal) == len(rules) else "values or scores" if normal else "values"
    yield (
        f"Continuous variables were put on grids of {_span(sizes)} steps{f' ({listed})' * (len(rules) <= SHOWN)}, with "
        f"a free parameter for every step, so that no distribution was assumed; couplings are linear in the {entered}, "
        f"per standard deviation {cite('continuous')}."
    )
    if normal:
        which = "They" if len(normal) == len(rules) > 1 else _list_variables(normal)
        ranks = "the ranks of its values" if len(normal) == 1 else "the ranks of their values"
        yield (
            f"{which} entered with normal scores, the quantiles of the standard normal distribution at {ranks} "
            f"{cite('normal-scores')}."
        )
    below, above = np.array([rule.beyond for rule in rules.values()]).sum(axis=0).tolist()
    if below or above:
        yield (
            f"Of the values, {below} below and {above} above the grid of their variable were assigned to its first and "
            "its last step."
        )


def say_weights(kind: str | None, sampling: str) -> Iterator[str]:
    """Say what row weights stand for; ``sampling`` is what such weights mean here."""
    if kind == "sampling":
        yield f"Observations had sampling weights, {sampling}."
    elif kind == "counts":
        yield "Row weights were counts of equal observations."


def say_missing(missing: Missing | None, n_columns: int, imputed_from: str) -> Iterator[str]:
    """Say which cells were missing, and what was done about them; ``imputed_from`` is what they were drawn from."""
    if missing is None:
        return
    share = missing.n_cells / (missing.n_rows * n_columns)
    cells, were = f"{plural(missing.n_cells, 'missing cell')} ({share:.1%})", "was" if missing.n_cells == 1 else "were"
    if missing.treatment == "drop":
        reasons = [cells] * (missing.n_cells > 0)
        reasons += [plural(missing.n_unlabeled, "missing group label")] * (missing.n_unlabeled > 0)
        rows = f"{missing.n_left_out} of {missing.n_rows} rows {'was' if missing.n_left_out == 1 else 'were'}"
        yield f"{rows} left out because of {' and '.join(reasons)}."
    elif missing.treatment == "zero":
        yield f"{cells} {were} counted as 0."
    else:
        empty = f"; {plural(missing.n_left_out, 'row')} without any answer left out" if missing.n_left_out else ""
        empty += f"; {plural(missing.n_unlabeled, 'row')} without a group label left out" * (missing.n_unlabeled > 0)
        drawn = f"{times(missing.n_imputations)} by stochastic EM {cite('stochastic-em')}"
        yield f"{cells} {were} imputed {drawn}, from {imputed_from}{empty}."


def say_certificate(solutions: Sequence[Solution], method: Method, optimal_for: str) -> Iterator[str]:
    """Say whether the computation reached the optimum; a network of the user may have no certificate."""
    gap, residual = (max(getattr(one, name) for one in solutions) for name in ("duality_gap", "kkt_residual"))
    if np.isnan(residual):
        return
    up_to = "up to " * (len(solutions) > 1)
    proof = f"(duality gap {up_to}{gap:.1e}, KKT residual {up_to}{residual:.1e})"
    if all(solution.converged for solution in solutions):
        up_to = f", up to a tolerance of {method.tolerance:g}" if method.tol is not None else ""
        yield f"The computation reached the optimum {optimal_for}{up_to} {proof}."
    else:
        yield f"The computation did NOT reach its tolerance of {method.tolerance:g} {optimal_for} {proof}."
