"""A paragraph for the methods section of a paper, read off a fit or a comparison of groups, and what to cite."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import assert_never

import numpy as np

from isinglass.arguments import check_kind
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.rules import Cut, Levels, Rule, Steps
from isinglass.data.meaning.values import show_span
from isinglass.errors import join_words, plural, times
from isinglass.evaluate.checking import ModelCheck
from isinglass.fit import Fit
from isinglass.network import Network
from isinglass.records import Missing, TwoStageRecord
from isinglass.results import Solution
from isinglass.select import EBIC, CrossValidation, Method, PerNode, Selector, StARS, TwoStage
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.select.group_comparison_result import LEVEL, GroupComparison
from isinglass.select.settings import seed_words
from isinglass.select.stochastic_em import MODEL
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
# What a selector does, and what to cite for it.
CHOICES: Mapping[type[Selector], tuple[str, ...]] = {
    TwoStage: (
        "in two stages: a lasso with the smallest AIC, then an adaptive lasso on its edges with penalties in inverse "
        "proportion to their couplings, compared by the extended BIC",
        "adaptive",
        "ebic-ising",
    ),
    EBIC: ("by the extended BIC", "ebic-ising"),
    PerNode: ("for every node by the extended BIC", "per-node"),
    CrossValidation: ("by the mean log pseudo-likelihood of held-out rows",),
    StARS: ("by the stability of edges over subsamples", "stars"),
}
NOT_BINARY = {"ebic-ising": "ebic", "per-node": "ebic"}  # the extended BIC of Ising models has references of its own


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


def describe_fit(fit: Fit, *bootstraps: Bootstrap, check: ModelCheck | None = None) -> Draft:
    """Say how the network of a fit was estimated and checked, as the methods section of a paper does."""
    for each in bootstraps:
        check_kind("bootstraps", each, Bootstrap, "bootstrap")
    checked = []
    if check is not None:
        check_kind("check", check, ModelCheck, "check(X)")
        checked = [f"As a check, {check.n_simulated} rows were simulated from the network. {check.sentence}"]
    solution = fit.solution.without_covariates()
    network, names = solution.network, fit.network.names
    effective = f"with an effective number of {fit.data.n_rows:.1f} ({cite('kish')})"
    return Draft.of(
        _say_model(network, fit.method, fit.network.variables.covariates),
        [f"The network was estimated from {plural(fit.data.n_observations, 'observation')}."],
        _say_reading(network, fit.coding, names),
        _say_weights(fit.data.weight_kind, effective),
        _say_missing(fit.missing, len(names), _imputed_from(network)),
        _say_choice(fit, network),
        _say_edges(fit),
        _say_certificate([solution], fit.method, "for this table and penalty"),
        *(_say_resamples(found, fit.missing) for found in bootstraps),
        checked,
    )


def describe_comparison(found: GroupComparison) -> Draft:
    """Say how groups were compared, as the methods section of a paper does, and what was found."""
    network = found.networks[0]
    imputed_from = f"{_imputed_from(network)}, for all rows together, ignoring groups"
    return Draft.of(
        _say_model(network, found.method, found.covariates),
        _say_groups(found),
        _say_reading(network, found.coding, found.names),
        _say_weights(found.weight_kind, "which stayed with their rows in every permutation"),
        _say_missing(found.missing, network.n_features + len(found.covariates), imputed_from),
        _say_penalty(found),
        _say_differences(found),
        _say_certificate(found.solutions, found.method, "in every group"),
    )


def _say_model(network: Network, method: Method, covariates: Sequence[str]) -> Iterator[str]:
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
    coupling = "" if "nominal" in kinds else ", with one coupling per pair of variables"
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


def _say_reading(network: Network, coding: Coding | None, names: Sequence[str]) -> Iterator[str]:
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


def _say_weights(kind: str | None, sampling: str) -> Iterator[str]:
    """Say what row weights stand for; ``sampling`` is what such weights mean here."""
    if kind == "sampling":
        yield f"Observations had sampling weights, {sampling}."
    elif kind == "counts":
        yield "Row weights were counts of equal observations."


def _say_missing(missing: Missing | None, n_columns: int, imputed_from: str) -> Iterator[str]:
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


def _imputed_from(network: Network) -> str:
    return f"a network whose edges were selected {_chosen_by(MODEL, network)}, and refitted almost without a penalty"


def _at(alpha: float) -> str:
    return "" if np.isnan(alpha) else f" (α = {alpha:.4g})"


def _chosen_by(selector: Selector, network: Network, stages: TwoStageRecord | None = None) -> str:
    """Say what chooses the penalty, with its settings; a penalty that is given is chosen by nothing."""
    if selector.is_given:
        return ""
    how, *keys = CHOICES.get(type(selector), ("by a rule of our own",))
    words = selector.words if stages is None else selector.words_for(stages.n_folds)
    keys = [key if set(network.kinds) == {"binary"} else NOT_BINARY.get(key, key) for key in keys]
    if isinstance(selector, TwoStage) and "nominal" in network.kinds:
        keys.append("effective")  # number of parameters of a table of couplings
    return f"{how} ({'; '.join([words, *map(cite, keys)])})"


def _say_choice(fit: Fit, network: Network) -> Iterator[str]:
    selector, at, stages = fit.method.selector, _at(fit.solution.alpha), fit.selection.stages
    if selector.is_given:
        yield f"The penalty was {selector.words}{at}."
        return
    yield f"The penalty was chosen {_chosen_by(selector, network, stages)}{'' if stages else at}."
    if stages is not None:
        first = stages.each[0]
        yield f"The lasso of the first stage has {plural(first.n_edges, 'edge')}{_at(first.alpha)}."
        if stages.n_sampled:
            sample = f"a random sample of {stages.n_sampled} rows"
            yield f"Penalties were searched in {sample}, and then near those in all rows."
        yield from explain_choice(fit)
        if fit.selection.left_out:
            yield f"A time limit ended the search before it reached {fit.selection.left_out}."


def explain_choice(fit: Fit) -> Iterator[str]:
    """Say for which reason the network of a two-stage estimate was taken; nothing of other estimates."""
    if fit.selection.stages is not None:
        yield from _explain_stages(fit.selection.stages, _at(fit.solution.alpha))
        if fit.selection.stages.reason == "empty" and fit.solution.without_covariates().n_edges:
            yield "The network therefore has only pairs that were not penalized."


def _explain_stages(stages: TwoStageRecord, at: str) -> Iterator[str]:
    """Say for which reason a network was taken; ``at`` is its penalty, or nothing where that is named already."""
    clearly = f"clearly better (by two standard errors and {1 - stages.keep:.0%} of the gain over one without edges)"
    folds = f"{stages.n_folds}-fold cross-validation"
    folds += f" of {stages.n_sampled} sampled rows" if stages.n_sampled else ""
    match stages.reason:
        case "empty" if stages.ended_first:
            yield "The first stage found no edges, so no second stage was needed."
        case "empty":
            yield f"In {folds}, none of these networks predicted held-out observations better than one without edges."
        case "ebic":
            yield f"The network has the smallest extended BIC{at}."
            if stages.n_folds:
                yield f"In {folds}, no network predicted held-out observations {clearly}."
        case "prediction":
            weaker = "a second stage with penalties in inverse proportion to the square root of the couplings"
            stage = {0.0: "the first stage", 1.0: "the second stage"}.get(stages.chosen.exponent, weaker)
            yield (
                f"In {folds}, other networks predicted held-out observations {clearly} than the one with the smallest "
                f"extended BIC. The network is the sparsest that keeps {stages.keep:.0%} of the largest gain, from "
                f"{stage}{at}."
            )
        case "time":
            which = {"aic": "AIC", "ebic": "extended BIC"}[stages.chosen.criterion]
            yield f"The network has the smallest {which} of those that were compared{at}."
        case _:
            assert_never(stages.reason)


def _say_edges(fit: Fit) -> Iterator[str]:
    yield f"The network has {fit.solution.n_edges} of {plural(fit.network.n_pairs, 'possible edge')}."
    if fit.refits is not None and np.isfinite(fit.refits.edge_errors).any():
        is_pooled = fit.missing is not None and fit.missing.edge_information is not None
        pooled = f", pooled over imputations by Rubin's rules ({cite('imputation')})" if is_pooled else ""
        yield (
            "Standard errors are robust (sandwich) errors of the unpenalized pseudo-likelihood estimate on these edges"
            f"{pooled}; they do not account for the selection."
        )
        if fit.n_infinite:
            yield f"There are none for {plural(fit.n_infinite, 'edge')} with an infinite estimate."
    if fit.edge_q is not None and fit.method.fdr is not None:
        n_found, n_untested = int((fit.edge_q <= fit.method.fdr).sum()), int(np.isnan(fit.edge_q).sum())
        untested = f"; {n_untested} could not be tested (infinite or too rare)" if n_untested else ""
        yield (
            "Pairs of variables were also tested given all others, without a penalty, at a false discovery rate of "
            f"{fit.method.fdr:g} ({cite('fdr')}): {n_found} of the edges found{untested}."
        )


def _say_resamples(found: Bootstrap, missing: Missing | None) -> Iterator[str]:
    """Say how often rows were drawn again, and how far orders were stable when rows were left out."""
    penalty = "the penalty chosen again" if found.reselect else "the penalty of the whole table"
    imputed = " and missing cells imputed again" if missing is not None and missing.treatment == "impute" else ""
    again = f"with {penalty}{imputed} ({cite('bootstrap')})"
    if found.kind == "rows":
        yield f"Intervals are from {plural(found.n_boot, 'bootstrap resample')} of rows, {again}."
    else:
        shares = found.drop_shares
        yield (
            f"Stability was assessed by {plural(found.n_boot, 'subset')} of the rows, about {found.n_per_share} for "
            f"each of {len(shares)} shares from {shares.min():.0%} to {shares.max():.0%} that were left out, {again}."
        )
        stable = ", ".join(f"{value:.2f} ({of.replace('_', ' ')})" for of, value in found.cs_coefficients().items())
        yield (
            "The CS-coefficients, the largest shares up to which rows can be left out with a correlation of at least "
            f".7 with the whole table in 95% of the subsets of every share, were {stable}."
            if stable
            else "There are no CS-coefficients, because the network has no edges."
        )
    if found.n_unconverged:
        yield f"{found.n_unconverged} of these networks did not reach the tolerance."


def _say_groups(found: GroupComparison) -> Iterator[str]:
    sizes = ", ".join(f"{group} (n = {n})" for group, n in zip(found.groups, found.n_rows, strict=True))
    how = "exchanging labels within subjects" if found.paired else "reassigning rows to groups at random"
    yield (
        f"Such networks were compared between {len(found.groups)} groups, {sizes}, by a permutation test "
        f"({cite('comparison')}) with {plural(found.n_permutations, 'permutation')}{seed_words(found.seed)}, {how}."
    )


def _say_penalty(found: GroupComparison) -> Iterator[str]:
    chosen = _chosen_by(found.method.selector, found.networks[0], found.stages)
    if found.reselect and chosen:
        yield f"The penalty was chosen in every group and again in every permutation {chosen}."
        return
    kept = f", chosen for all rows together {chosen}, and rescaled to the noise in 1/{len(found.groups)} of the rows"
    yield f"All groups and permutations used the same penalty{kept if chosen else ''}{_at(found.solutions[0].alpha)}."
    if found.stages is not None and found.stages.reason != "ebic":
        yield from _explain_stages(found.stages, "")


def _say_differences(found: GroupComparison) -> Iterator[str]:
    if len(found.groups) > 2:
        yield "With more than two groups, differences are those between the two groups furthest apart."
    yield (
        f"The largest difference in a coupling was {found.structure:.3g} (p = {found.p_structure:.3g}), the difference "
        f"in global strength {found.strength:.3g} (p = {found.p_strength:.3g})."
    )
    if found.n_unconverged:
        yield f"{found.n_unconverged} of the permutations did not reach the tolerance."
    if found.least_p > LEVEL:
        few = f"With {plural(found.n_permutations, 'permutation')} no p-value can be below {found.least_p:.2g}"
        yield f"{few}: nothing could be found."
        return
    n_found = int((found.edge_p_family <= LEVEL).sum())
    yield (
        f"At p ≤ {LEVEL:g}, corrected for all {found.networks[0].n_pairs} pairs by the distribution of the largest "
        f"difference (max-T), {plural(n_found, 'edge')} differed."
    )


def _say_certificate(solutions: Sequence[Solution], method: Method, optimal_for: str) -> Iterator[str]:
    """Say whether the computation reached the optimum."""
    gap, residual = (max(getattr(one, name) for one in solutions) for name in ("duality_gap", "kkt_residual"))
    reached = "reached" if all(solution.converged for solution in solutions) else "did NOT reach"
    yield (
        f"The computation {reached} the optimum {optimal_for}, up to a tolerance of {method.tolerance:g} for the KKT "
        f"residual (at most {residual:.1e}) and for the duality gap (at most {gap:.1e}) as a share of the objective "
        "without edges."
    )
