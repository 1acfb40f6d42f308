"""The sentences of a methods section, and what they cite.

A fit and a comparison of groups each make a record of `What` was done. Every sentence is a function of that record, so
one that is written for a fit is there for a comparison, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from isinglass.data.meaning.rules import Cut, Levels, Rule, Steps
from isinglass.data.meaning.values import show_span
from isinglass.errors import plural
from isinglass.missing_record import Missing
from isinglass.network import Network
from isinglass.results import Solution
from isinglass.select.method import Method
from isinglass.text_tables import join_words
from isinglass.variables import KINDS
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


@dataclass(frozen=True)
class What:
    """What was done and found. No field has a default: a fit and a comparison must both fill in every one."""

    solutions: Sequence[Solution]  # one, or that of every group; without covariates
    estimated: str  # from what they were estimated; the sentence goes on with how
    method: Method | None  # None: a function estimated them
    covariates: Sequence[str]  # their names
    rules: Mapping[str, Rule]  # how the columns were read, by their names
    weight_kind: str | None
    weighted: str  # what sampling weights meant
    missing: Missing | None
    imputed_from: str  # what missing cells were drawn from
    choice: Sequence[str]  # what chose the penalty, and which networks have it
    findings: Sequence[str]
    optimal_for: str  # what the solutions are the optimum of
    assessment: Sequence[str]  # how far networks of other rows agree, and whether the network fits

    @property
    def network(self) -> Network:
        """The network, or that of the first group."""
        return self.solutions[0].network

    @property
    def kinds(self) -> set[str]:
        """The kinds of the variables that are modeled."""
        return set(self.network.kinds)

    @property
    def is_binary(self) -> bool:
        """Whether the model is an Ising model."""
        return self.kinds == {"binary"}


def write(what: What) -> Draft:
    """Put the sentences together."""
    return Draft(" ".join(sentence for say in SENTENCES for sentence in say(what)))


def _say_model(what: What) -> Iterator[str]:
    """Say what was estimated from how many observations, and by which criterion."""
    model, ising = ("A pairwise Markov network", " (Ising model)")
    if len(what.solutions) > 1:
        model, ising = ("Pairwise Markov networks", " (Ising models)")
    mixed = f" {cite('mixed')}" if len(what.kinds) > 1 or "nominal" in what.kinds else ""
    how, more = "by a function of the user", ""
    if what.method is not None:
        how = _estimator(what.method, what)
        more = "" if what.method.estimator == "nodewise" else ", with one coupling per pair of variables"
        if "nominal" in what.kinds:
            more += (
                ", and for a pair with a nominal variable a table of couplings, penalized by its norm (√2 times the "
                "Frobenius norm, 2 times for two nominal variables)"
            )
    kind = f"{ising if what.is_binary else ''}{mixed}"
    yield f"{model}{kind} of {_columns(what.network)} {what.estimated} {how}{more}, using isinglass {__version__}."


def _estimator(method: Method, what: What) -> str:
    """Say what was maximized; regressions have the likelihood of their variable's kind."""
    if method.estimator == "nodewise" and not what.is_binary:
        present = ", ".join(REGRESSIONS[kind] for kind in KINDS if kind in what.kinds)
        return f"by a penalized regression of every variable on all others ({present}) {cite('node-wise-mixed')}"
    cited = ["node-wise"] if method.estimator == "nodewise" else ["pseudo-likelihood"]
    if method.estimator == "joint" and what.is_binary:
        cited.append("paper")
    return f"{ESTIMATES[method.estimator]} {cite(*cited)}"


def _columns(network: Network) -> str:
    """Say how many variables of which kind the network has."""
    parts, kinds = [], np.array(network.kinds)
    for kind in KINDS:
        sizes = network.variables.sizes[kinds == kind]
        if len(sizes):
            several = f"{sizes.min()} to {sizes.max()}" if np.ptp(sizes) else f"{sizes[0]}"
            noun = f"{kind} variable{'s' * (len(sizes) > 1)}"
            size = f" ({several} categories)" if kind in ("ordinal", "nominal") else ""
            parts.append(f"{len(sizes)} {noun}{size}")
    return join_words(parts)


def _say_penalty_weights(what: What) -> Iterator[str]:
    weights = None if what.method is None else what.method.penalty_weights
    if isinstance(weights, str):
        yield "Penalties were weighted by the standard deviations of the variables."
    elif weights is not None:
        yield "Penalty weights were given for every pair."


def _say_rule(what: What) -> Iterator[str]:
    if what.method is not None and what.method.estimator == "nodewise":
        yield f"The two estimates of a pair were combined by the {what.method.rule.upper()} rule."


def _say_covariates(what: What) -> Iterator[str]:
    if what.covariates:
        were = "was" if len(what.covariates) == 1 else "were"
        listed = _list_variables(what.covariates)
        subject = "The networks are" if len(what.solutions) > 1 else "The network is"
        yield f"{subject} adjusted for {listed}, which {were} conditioned on and not modeled, without a penalty."


def _say_answers(what: What) -> Iterator[str]:
    """Say which answer is 1, and where numbers were cut."""
    levels = {name: rule for name, rule in what.rules.items() if isinstance(rule, Levels) and not rule.is_plain}
    pairs = {name: rule.pair for name, rule in levels.items() if rule.kind == "binary"}
    bits = {name: f"1 stands for {_value(one)} and 0 for {_value(zero)}" for name, (zero, one) in pairs.items()}
    yield from _say_once(bits, len(what.rules))
    cuts = {name: rule.threshold for name, rule in what.rules.items() if isinstance(rule, Cut)}
    above = {name: f"1 stands for values above {threshold:g}" for name, threshold in cuts.items()}
    yield from _say_once(above, len(what.rules))


def _say_ordinal(what: What) -> Iterator[str]:
    """Say what is assumed about ordered categories, and which were turned."""
    if "ordinal" not in what.kinds:
        return
    variables = what.network.variables
    scores = [scores for kind, scores in zip(variables.kinds, variables.scores, strict=True) if kind == "ordinal"]
    equal = all(np.allclose(np.diff(np.array(each), 2), 0.0) for each in scores)
    spacing = f"scores that are not all equally spaced {cite('scores')}"
    if equal:
        spacing = f"equally spaced scores {cite('ordinal', 'scores')}"
    yield (
        "Every category of an ordinal variable has a threshold of its own; couplings are linear in the categories, "
        f"which entered with {spacing}."
    )
    turned = [name for name, rule in what.rules.items() if isinstance(rule, Levels) and rule.is_reversed]
    if turned:
        yield f"The categories of {_list_variables(turned, MOST_TURNED)} were taken in reverse order."


def _say_continuous(what: What) -> Iterator[str]:
    """Say on which grids continuous variables lie, and how many values are beyond their ends."""
    rules = {name: rule for name, rule in what.rules.items() if isinstance(rule, Steps) and name not in what.covariates}
    if not rules:
        return
    sizes = [rule.n_categories for rule in rules.values()]
    several = f"{min(sizes)} to {max(sizes)}" if min(sizes) < max(sizes) else f"{sizes[0]}"
    listed = [
        f"{name} {rule.n_categories} from {show_span(rule.values[0], rule.values[-1])}" for name, rule in rules.items()
    ]
    shown = f" ({'; '.join(listed)})" if len(rules) <= SHOWN else ""
    normal = [name for name, rule in rules.items() if rule.is_normal]
    entered = "scores" if len(normal) == len(rules) else "values or scores" if normal else "values"
    yield (
        f"Continuous variables were put on grids of {several} steps{shown}, with a free parameter for every step, so "
        f"that no distribution was assumed; couplings are linear in the {entered}, per standard deviation "
        f"{cite('continuous')}."
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


def _say_weights(what: What) -> Iterator[str]:
    if what.weight_kind == "sampling":
        yield f"Observations had sampling weights, {what.weighted}."
    elif what.weight_kind == "counts":
        yield "Row weights were counts of equal observations."


def _say_missing(what: What) -> Iterator[str]:
    missing = what.missing
    if missing is None:
        return
    share = missing.n_cells / (missing.n_rows * (what.network.n_features + len(what.covariates)))
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
        times = f"{missing.n_imputations} times by stochastic EM {cite('stochastic-em')}"
        yield f"{cells} {were} imputed {times}, from {what.imputed_from}{empty}."


def _say_certificate(what: What) -> Iterator[str]:
    """Say whether the computation reached the optimum; a network of the user may have no certificate."""
    gap, residual = (max(getattr(one, name) for one in what.solutions) for name in ("duality_gap", "kkt_residual"))
    if np.isnan(residual):
        return
    up_to = "up to " * (len(what.solutions) > 1)
    proof = f"(duality gap {up_to}{gap:.1e}, KKT residual {up_to}{residual:.1e})"
    tol = "" if what.method is None else f" of {what.method.tolerance:g}"
    if all(solution.converged for solution in what.solutions):
        up_to = f", up to a tolerance{tol}" if what.method is not None and what.method.tol is not None else ""
        yield f"The computation reached the optimum {what.optimal_for}{up_to} {proof}."
    else:
        yield f"The computation did NOT reach its tolerance{tol} {what.optimal_for} {proof}."


SENTENCES: Sequence[Callable[[What], Iterable[str]]] = (
    _say_model,
    _say_penalty_weights,
    _say_rule,
    _say_covariates,
    _say_answers,
    _say_ordinal,
    _say_continuous,
    _say_weights,
    _say_missing,
    lambda what: what.choice,
    lambda what: what.findings,
    _say_certificate,
    lambda what: what.assessment,
)
"""The paragraph, of a fit and of a comparison of groups alike."""
