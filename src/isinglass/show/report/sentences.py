"""The sentences that the methods text of a fit shares with that of a comparison of groups, and what they cite."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain

import numpy as np

from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.rules import Cut, Levels, Rule, Steps
from isinglass.data.meaning.values import show_span
from isinglass.errors import join_words, plural, times
from isinglass.network import Network
from isinglass.records import Missing
from isinglass.results import Solution
from isinglass.select.method import Method
from isinglass.variables import KINDS
from isinglass.version import YEAR, __version__

ESTIMATES = {
    "joint": "by maximizing the L1-penalized pseudo-likelihood",
    "nodewise": "by an L1-penalized regression of every variable on all others",
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

    text: str

    @classmethod
    def of(cls, *parts: Iterable[str]) -> Draft:
        """Return the paragraph of these sentences."""
        return cls(" ".join(chain.from_iterable(parts)))

    @property
    def references(self) -> str:
        """What to cite, a line each: this version of the package, and what the text cites."""
        own = f"The isinglass developers. ({YEAR}). isinglass (version {__version__}) [Computer software]."
        cited = (each["reference"] for each in references().values() if each["cited"] in self.text)
        return "\n".join([own, *sorted(cited, key=str.casefold)])

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.references}\n"


def cite(*keys: str) -> str:
    """Return the citation of some references, without parentheses."""
    return "; ".join(sorted(references()[key]["cited"] for key in keys))


@cache
def references() -> dict[str, dict[str, str]]:
    """Return what texts cite, by its key: how it is cited, and the reference."""
    known: dict[str, dict[str, str]] = json.loads(
        files(__package__).joinpath("references.json").read_text(encoding="utf-8")
    )
    return known


def say_model(network: Network, method: Method, covariates: Sequence[str]) -> Iterator[str]:
    """Say what was estimated, and by which criterion."""
    kinds = set(network.kinds)
    cited = " (Ising model)" if kinds == {"binary"} else ""
    if len(kinds) > 1 or "nominal" in kinds:
        cited = f" ({cite('mixed')})"
    columns, how = _count_columns(network), _name_estimator(method, kinds)
    yield f"A pairwise Markov network{cited} of {columns} was estimated {how}, using isinglass {__version__}."
    yield from _say_penalties(method, kinds)
    if covariates:
        listed = _list_variables(covariates)
        yield f"It is adjusted for {listed} (conditioned on and not modeled, without a penalty)."


def _name_estimator(method: Method, kinds: Collection[str]) -> str:
    """Say what was maximized; regressions have the likelihood of their variable's kind."""
    estimate = ESTIMATES[method.estimator]
    if method.estimator == "nodewise":
        present = ", ".join(REGRESSIONS[kind] for kind in KINDS if kind in kinds)
        return f"{estimate} ({present}; {cite('node-wise' if kinds == {'binary'} else 'node-wise-mixed')})"
    own = ["paper"] if method.estimator == "joint" and kinds == {"binary"} else []
    coupling = "" if kinds == {"nominal"} else ", with one coupling per pair of variables"
    return f"{estimate} ({cite('pseudo-likelihood', *own)}){coupling}"


def _say_penalties(method: Method, kinds: Collection[str]) -> Iterator[str]:
    if "nominal" in kinds:
        yield (
            "A pair with a nominal variable has a table of couplings, penalized by its norm (√2 times the Frobenius "
            "norm, 2 times for two nominal variables)."
        )
    if isinstance(method.penalty_weights, str):
        yield "Penalties were weighted by the standard deviations of the variables."
    elif method.penalty_weights is not None:
        yield "Penalty weights were given for every pair."
    if method.estimator == "nodewise":
        yield f"The two estimates of a pair were combined by the {method.rule.upper()} rule."


def _count_columns(network: Network) -> str:
    parts, kinds = [], np.array(network.kinds)
    for kind in [kind for kind in KINDS if kind in network.kinds]:
        sizes = np.unique(network.variables.sizes[kinds == kind])[[0, -1]]
        size = f" ({' to '.join(map(str, np.unique(sizes)))} categories)" if kind in ("ordinal", "nominal") else ""
        parts.append(f"{plural(int((kinds == kind).sum()), f'{kind} variable')}{size}")
    return join_words(parts)


def say_reading(network: Network, coding: Coding | None, names: Sequence[str]) -> Iterator[str]:
    """Say how the columns of these names were read, and what is assumed about their values."""
    rules: Mapping[str, Rule] = {} if coding is None else dict(zip(names, coding.columns, strict=True))
    yield from _say_codes(rules)
    if "ordinal" in network.kinds:
        yield _say_ordinal(network)
        turned = [name for name, rule in rules.items() if isinstance(rule, Levels) and rule.is_reversed]
        if turned:
            yield f"The categories of {_list_variables(turned, MOST_TURNED)} were taken in reverse order."
    grids = {name: rule for name, rule in rules.items() if isinstance(rule, Steps) and name in network.names}
    if grids:
        yield from _say_continuous(grids)
    if coding is not None:
        for name, made_of in zip(coding.names or (), coding.indicators, strict=False):
            if made_of:
                yield f"{name} was made of {len(made_of)} indicator columns."


def _say_codes(rules: Mapping[str, Rule]) -> Iterator[str]:
    """Say what stands for 1: a sentence for every meaning, unless there are many."""
    named: dict[str, list[str]] = {}
    for name, rule in rules.items():
        if isinstance(rule, Cut):
            named.setdefault(f"1 stands for values above {rule.threshold:g}", []).append(name)
        elif isinstance(rule, Levels) and rule.kind == "binary" and not rule.is_plain:
            zero, one = map(_value, rule.pair)
            named.setdefault(f"1 stands for {one} and 0 for {zero}", []).append(name)
    if len(named) > SHOWN:
        n_columns = sum(map(len, named.values()))
        yield f"What stands for 1 differs between {n_columns} variables and is listed in the model file (fit.coding)."
    else:
        yield from (f"In {_list_variables(names)}, {meaning}." for meaning, names in named.items())


def _value(value: object) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return " or ".join("no value of the table" if one is None else repr(one) for one in values)


def _list_variables(names: Sequence[str], most: int = SHOWN) -> str:
    return f"{len(names)} variables" if len(names) > most else join_words(names)


def _say_ordinal(network: Network) -> str:
    kinds, scores = network.kinds, network.variables.scores
    steps = [np.diff(np.array(each), 2) for kind, each in zip(kinds, scores, strict=True) if kind == "ordinal"]
    is_equal = all(np.allclose(each, 0.0) for each in steps)
    return (
        "Every category of an ordinal variable has a threshold of its own; couplings are linear in the categories, "
        f"whose scores are {'' if is_equal else 'not all '}equally spaced "
        f"({cite('ordinal', 'scores') if is_equal else cite('scores')})."
    )


def _say_continuous(rules: Mapping[str, Steps]) -> Iterator[str]:
    """Say on which grids continuous variables lie, and how many values are beyond their ends."""
    grids = [
        f"{name} in {rule.n_categories} steps from {show_span(rule.values[0], rule.values[-1]).replace('-', '−')}"
        for name, rule in rules.items()
    ]
    listed = f" ({'; '.join(grids)})" if len(grids) <= SHOWN else ""
    yield (
        f"Continuous variables were put on grids{listed}, with a free parameter for every step, so that no "
        f"distribution was assumed; couplings are linear in the scores, per standard deviation ({cite('continuous')})."
    )
    normal = [name for name, rule in rules.items() if rule.is_normal]
    if normal:
        yield (
            f"The scores of {_list_variables(normal)} are normal scores, the quantiles of the standard normal "
            f"distribution at the ranks of the values ({cite('normal-scores')})."
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
    if missing.treatment == "drop":
        reasons = [f"{plural(missing.n_cells, 'missing cell')} ({share:.1%})"] * (missing.n_cells > 0)
        reasons += [plural(missing.n_unlabeled, "missing group label")] * (missing.n_unlabeled > 0)
        yield f"Rows with {join_words(reasons)} were left out ({missing.n_left_out} of {missing.n_rows})."
        return
    how = "counted as 0"
    if missing.treatment == "impute":
        how = f"imputed {times(missing.n_imputations)} by stochastic EM ({cite('stochastic-em')}), from {imputed_from}"
    yield f"Missing cells ({missing.n_cells}, {share:.1%}) were {how}."
    gone = [f"{plural(missing.n_left_out, 'row')} without any answer"] * (missing.n_left_out > 0)
    gone += [f"{plural(missing.n_unlabeled, 'row')} without a group label"] * (missing.n_unlabeled > 0)
    if gone:
        yield f"Left out were {join_words(gone)}."


def say_certificate(solutions: Sequence[Solution], method: Method, optimal_for: str) -> Iterator[str]:
    """Say whether the computation reached the optimum."""
    gap, residual = (max(getattr(one, name) for one in solutions) for name in ("duality_gap", "kkt_residual"))
    reached = "reached" if all(solution.converged for solution in solutions) else "did NOT reach"
    yield (
        f"The computation {reached} the optimum {optimal_for}, up to a tolerance of {method.tolerance:g} for the KKT "
        f"residual (at most {residual:.1e}) and for the duality gap (at most {gap:.1e}) as a share of the objective "
        "without edges."
    )
