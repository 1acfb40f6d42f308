"""A paragraph for the methods section of a paper, and what to cite. Every sentence is read off the fit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from isinglass.data.coding import Coding, Cut, Indicators, Levels, Steps
from isinglass.evaluate.checking import ModelCheck
from isinglass.fit import Fit
from isinglass.network import Network
from isinglass.results import Missing, Reason, TwoStageRecord
from isinglass.select import CrossValidation, PerNode, StARS, TwoStage
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.select.ebic import EBIC
from isinglass.select.group_comparison_result import GroupComparison
from isinglass.select.method import Method
from isinglass.text_tables import join_words
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
FOUND = 0.05
"""Family-wise p-value up to which an edge of a comparison is said to differ."""
COMPARED = {
    "means": "shares of ones",
    "pairs": "shares of pairs",
    "triples": "shares of triples",
    "counts": "shares of rows with k or more ones",
}
"""What a check compares, in words."""
COUNTS = "Row weights were counts of equal observations."
SHOWN, MOST_TURNED = 6, 30  # columns whose values are listed one by one, and reversed items that are named
CITED = re.compile(r"\[((?:@[\w-]+(?:; )?)+)\]")


@dataclass(frozen=True)
class Draft:
    """A text that cites references by their keys, ``[@key]``."""

    marked: str

    @property
    def text(self) -> str:
        """The text with authors and years in place of keys."""
        return CITED.sub(_authors, self.marked).replace(") (", "; ")

    @property
    def references(self) -> str:
        """What to cite, a line each: this version of the package, and what the text cites."""
        own = f"The isinglass developers. ({YEAR}). isinglass (version {__version__}) [Computer software]."
        keys = {key for match in CITED.finditer(self.marked) for key in _keys(match)}
        return "\n".join([own, *sorted((references()[key]["reference"] for key in keys), key=str.casefold)])


def _keys(match: re.Match[str]) -> list[str]:
    return [key.lstrip("@") for key in match[1].split("; ")]


def _authors(match: re.Match[str]) -> str:
    return f"({'; '.join(sorted(references()[key]['cited'] for key in _keys(match)))})"


@cache
def references() -> dict[str, dict[str, str]]:
    """Return what texts cite as ``[@key]``: how it is cited, and the reference."""
    known: dict[str, dict[str, str]] = json.loads(
        files(__package__).joinpath("references.json").read_text(encoding="utf-8")
    )
    return known


def describe_fit(fit: Fit, *bootstraps: Bootstrap, check: ModelCheck | None = None) -> Draft:
    """Say how the network of a fit was estimated and checked, as the methods section of a paper does."""
    sentences = [
        _describe_estimate(fit),
        *_describe_coding(fit.network, fit.coding),
        *_describe_weights(fit),
        *_describe_missing(
            fit.missing, fit.solution.n_features, "the network itself given the observed cells of their row"
        ),
        *_describe_choice(fit),
        f"The network has {fit.solution.n_edges} of {fit.network.n_pairs} possible edges.",
        *_describe_proof(fit),
        *(sentence for found in bootstraps for sentence in _describe_bootstrap(fit, found)),
        *_describe_check(check),
    ]
    return Draft(" ".join(sentences))


def _describe_estimate(fit: Fit) -> str:
    """Say what was estimated from how many observations, and by which criterion."""
    network = fit.network
    kinds = set(_modeled_kinds(network))
    model = "A pairwise Markov network (Ising model)" if kinds == {"binary"} else "A pairwise Markov network"
    mixed = " [@mixed]" if len(kinds) > 1 or "nominal" in kinds else ""
    blocks = ""
    if "nominal" in kinds:
        blocks = ", and a table of couplings, penalized by its Frobenius norm, for a pair with a nominal variable"
    one_each = "" if fit.method.estimator == "nodewise" else ", with one coupling per pair of variables"
    weights = _describe_penalty_weights(fit.method)
    weights = f"; {weights}" if weights else ""
    return (
        f"{model}{mixed} of {_describe_columns(network)} was estimated from {fit.n_observations} observations "
        f"{_describe_likelihood(fit.method, network)}{one_each}{blocks}{weights}, using "
        f"isinglass {__version__}.{_describe_covariates('The network is', network.variables.covariates)}"
    )


def _describe_penalty_weights(method: Method) -> str:
    """Say which weights penalties had, if they had any."""
    if method.penalty_weights is None:
        return ""
    if isinstance(method.penalty_weights, str):
        return "penalties were weighted by the standard deviations of the variables"
    return "penalty weights were given for every pair"


def _describe_covariates(subject: str, given: Sequence[str]) -> str:
    """Say which columns are conditioned on, if there are any."""
    if not given:
        return ""
    were = "was" if len(given) == 1 else "were"
    listed = _list_variables(given)
    return f" {subject} adjusted for {listed}, which {were} conditioned on and not modeled, without a penalty."


def _describe_likelihood(method: Method, network: Network) -> str:
    """Say what was maximized; regressions have the likelihood of their variable's kind."""
    kinds = _modeled_kinds(network)
    is_binary = set(kinds) == {"binary"}
    if method.estimator == "nodewise" and not is_binary:
        present = ", ".join(REGRESSIONS[kind] for kind in KINDS if kind in kinds)
        return f"by a penalized regression of every variable on all others ({present}) [@node-wise-mixed]"
    cited = "@node-wise" if method.estimator == "nodewise" else "@pseudo-likelihood"
    if method.estimator == "joint" and is_binary:
        cited = "@paper; @pseudo-likelihood"
    return f"{ESTIMATES[method.estimator]} [{cited}]"


def _modeled_kinds(network: Network) -> list[str]:
    """Return the kinds of the variables that are no covariates."""
    variables = network.variables
    return [kind for kind, is_given in zip(variables.kinds, variables.covariate, strict=True) if not is_given]


def _describe_columns(network: Network) -> str:
    """Say how many variables of which kind the network has."""
    parts, kinds = [], np.array(network.kinds)
    for kind in KINDS:
        sizes = network.variables.sizes[(kinds == kind) & network.variables.is_modelled]
        if len(sizes):
            several = f"{sizes.min()} to {sizes.max()}" if np.ptp(sizes) else f"{sizes[0]}"
            noun = f"{kind} variable{'s' * (len(sizes) > 1)}"
            size = f" ({several} categories)" if kind in ("ordinal", "nominal") else ""
            parts.append(f"{len(sizes)} {noun}{size}")
    return join_words(parts)


def _describe_coding(network: Network, coding: Coding) -> Iterator[str]:
    """Say which answer is 1, where numbers were cut, and what the scores of other variables are."""
    names = network.names
    by_column = dict(coding.encoding)
    pairs = {name: by_column.get(name, by_column.get(k)) for k, name in enumerate(names)}
    bits = {name: f"1 stands for {_value(pair[1])} and 0 for {_value(pair[0])}" for name, pair in pairs.items() if pair}
    yield from _say_once(bits, len(names))
    rules = dict(zip(names, coding.columns, strict=True))
    cuts = {
        name: f"1 stands for values above {rule.threshold:g}" for name, rule in rules.items() if isinstance(rule, Cut)
    }
    yield from _say_once(cuts, len(names))
    for name, rule in rules.items():
        if isinstance(rule, Indicators):
            yield f"{name} was made of {len(rule.members)} indicator columns."
    yield from _describe_ordinal(network.variables, coding)
    given = network.variables.covariates
    grids = {name: rule for name, rule in rules.items() if isinstance(rule, Steps) and name not in given}
    yield from _describe_continuous(grids)


def _describe_ordinal(variables: Variables, coding: Coding) -> Iterator[str]:
    """Say what is assumed about ordered categories, and which were turned."""
    each = zip(variables.kinds, variables.scores, variables.covariate, strict=True)
    scores = [scores for kind, scores, is_given in each if kind == "ordinal" and not is_given]
    if not scores:
        return
    equal = all(np.allclose(np.diff(np.array(each), 2), 0.0) for each in scores)
    spacing = "equally spaced scores [@ordinal; @scores]" if equal else "the scores that were given [@scores]"
    yield (
        "Every category of an ordinal variable has a threshold of its own; couplings are linear in the categories, "
        f"which entered with {spacing}."
    )
    rules = zip(variables.names, coding.columns, strict=True)
    turned = [name for name, rule in rules if isinstance(rule, Levels) and rule.is_reversed]
    if turned:
        yield f"The categories of {_list_variables(turned, MOST_TURNED)} were taken in reverse order."


def _describe_continuous(rules: dict[str, Steps]) -> Iterator[str]:
    """Say on which grids continuous variables lie, and how many values are beyond their ends."""
    if not rules:
        return
    sizes = [rule.n_categories for rule in rules.values()]
    several = f"{min(sizes)} to {max(sizes)}" if min(sizes) < max(sizes) else f"{sizes[0]}"
    listed = [
        f"{name} {rule.n_categories} from {rule.values[0]:g} to {rule.values[-1]:g}" for name, rule in rules.items()
    ]
    shown = f" ({'; '.join(listed)})" if len(rules) <= SHOWN else ""
    subject = f"Continuous variables were put on grids of {several} steps{shown}"
    if len(rules) == 1:
        ((name, rule),) = rules.items()
        subject = f"{name} was put on a grid of {several} steps from {rule.values[0]:g} to {rule.values[-1]:g}"
    yield (
        f"{subject}, with a free parameter for every step, so that no distribution was assumed; couplings are linear "
        "in the values, per standard deviation [@continuous]."
    )
    normal = [name for name, rule in rules.items() if rule.is_normal]
    if normal:
        which = "They" if len(normal) == len(rules) > 1 else _list_variables(normal)
        yield (
            f"{which} entered with normal scores, the quantiles of the standard normal distribution at their ranks "
            "[@normal-scores]."
        )
    below, above = np.array([rule.beyond for rule in rules.values()]).sum(axis=0).tolist()
    if below or above:
        yield (
            f"{below} values below the 0.5% quantile of their variable and {above} above the 99.5% quantile were "
            f"assigned to the first and the last step."
        )


def _value(value: object) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return " or ".join("no value of the table" if one is None else repr(one) for one in values)


def _say_once(said: dict[str, str], n_columns: int) -> Iterator[str]:
    """Yield one sentence if all columns say the same, a list if there are few, else one that counts them."""
    words = set(said.values())
    if not said:
        return
    if len(words) == 1:
        where = "In all variables" if len(said) == n_columns else f"In {_list_variables(list(said))}"
        yield f"{where} {words.pop()}."
    elif len(said) <= SHOWN:
        yield "I" + "; ".join(f"in {name} {what}" for name, what in said.items())[1:] + "."
    else:
        yield f"What stands for 1 differs between {len(said)} variables and is listed in the model file (fit.coding)."


def _list_variables(names: Sequence[str], most: int = SHOWN) -> str:
    return f"{len(names)} variables" if len(names) > most else join_words(names)


def _describe_weights(fit: Fit) -> Iterator[str]:
    if fit.weight_kind == "sampling":
        yield (
            f"Observations had sampling weights, with an effective number of {fit.n_rows:.1f} [@kish], which criteria "
            "use as the number of observations."
        )
    elif fit.weight_kind == "counts":
        yield COUNTS


def _describe_missing(missing: Missing | None, n_columns: int, origin: str) -> Iterator[str]:
    """Say what was done about missing cells; ``origin`` is what imputed ones were drawn from."""
    if missing is None:
        return
    share = missing.n_cells / (missing.n_rows * n_columns)
    cells = f"{missing.n_cells} missing cells ({share:.1%})"
    if missing.treatment == "drop":
        yield f"{missing.n_left_out} of {missing.n_rows} rows were left out because of {cells}."
    elif missing.treatment == "zero":
        yield f"{cells} were counted as 0."
    else:
        empty = f"; {missing.n_left_out} rows without any answer were left out" if missing.n_left_out else ""
        times = f"{missing.n_imputations} times by stochastic EM [@stochastic-em]"
        yield f"{cells} were imputed {times}, from {origin}{empty}."


def _describe_choice(fit: Fit) -> Iterator[str]:
    """Say what chose the penalty, with its settings; of the two-stage estimate what decided in the end."""
    selector, alpha = fit.method.selector, fit.solution.alpha
    if isinstance(selector, TwoStage):
        yield from _describe_stages(fit, selector)
    elif isinstance(selector, PerNode):
        is_isingfit = isinstance(fit.method.penalty_weights, str) and set(_modeled_kinds(fit.network)) == {"binary"}
        as_there = ", as in the R package IsingFit" if is_isingfit else ""
        chosen = f"chosen by the extended BIC (γ = {selector.gamma:g}) {_cite_ebic(fit)}"
        yield f"The penalty of every node was {chosen}{as_there}."
    elif isinstance(selector, EBIC):
        relaxed = " of the unpenalized estimates on the selected edges" if selector.relaxed else ""
        yield (
            f"The penalty was chosen by the extended BIC{relaxed} (γ = {selector.gamma:g}, α = {alpha:.4g}) "
            f"{_cite_ebic(fit)}."
        )
    elif isinstance(selector, CrossValidation):
        yield f"The penalty was chosen by cross-validation ({selector.words}; α = {alpha:.4g})."
    elif isinstance(selector, StARS):
        yield (
            f"The penalty was chosen by the stability of edges over subsamples ({selector.words}; α = {alpha:.4g}) "
            "[@stars]."
        )
    else:
        yield "The penalties were given." if np.isnan(alpha) else f"The penalty was given (α = {alpha:.4g})."
    if fit.method.estimator == "nodewise":
        yield f"The two estimates of a pair were combined by the {fit.method.rule.upper()} rule."


def _cite_ebic(fit: Fit) -> str:
    """Return the key of the reference of the extended BIC: Ising models have their own."""
    if set(_modeled_kinds(fit.network)) != {"binary"}:
        return "[@ebic]"
    return "[@per-node]" if isinstance(fit.method.selector, PerNode) else "[@ebic-ising]"


def _describe_stages(fit: Fit, selector: TwoStage) -> Iterator[str]:
    """Say how the two stages went, and which network was taken for which reason."""
    assert fit.stages
    stages, first = fit.stages, fit.stages.each[0]
    if stages.ended_first:
        yield "A lasso whose penalty was chosen by the AIC found no edges, so no second stage was needed."
        return
    if len(stages.each) > 1:
        blocks = ", counting parameters of tables of couplings by their effective number [@effective]"
        yield (
            f"Edges were selected in two stages: a lasso with the smallest AIC (α = {first.alpha:.4g}, "
            f"{first.n_edges} edges), then an adaptive lasso [@adaptive] on its edges with penalties in inverse "
            f"proportion to their couplings, compared by the extended BIC (γ = {selector.gamma:g}) {_cite_ebic(fit)}"
            f"{blocks if 'nominal' in fit.network.kinds else ''}."
        )
    folds = f"{stages.n_folds}-fold cross-validation (seed {selector.random_state})"
    if stages.n_sampled:
        sample = f"{stages.n_sampled} rows"
        yield f"Both penalties were searched in a random sample of {sample}, and then near those in all rows."
        folds += f" of these {sample}"
    yield from DECISIONS[stages.reason](fit, stages, folds)
    if "continuous" in _modeled_kinds(fit.network) and stages.n_folds:
        yield (
            "The gain of a continuous column is −½ log(1 − r²), where r is the rank correlation of held-out values and "
            "their linear predictors."
        )
    if fit.left_out:
        yield f"A time limit ended the search before it reached {fit.left_out}."


def _taken_by_ebic(fit: Fit, stages: TwoStageRecord, folds: str) -> Iterator[str]:
    yield f"The network has the smallest extended BIC (α = {fit.solution.alpha:.4g})."
    if stages.n_folds:
        yield f"A {folds} found no network that predicts held-out observations clearly better ({_clearly(stages)})."


def _taken_by_prediction(fit: Fit, stages: TwoStageRecord, folds: str) -> Iterator[str]:
    weaker = "a second stage with penalties in inverse proportion to the square root of the couplings"
    from_stage = {0.0: "the first stage", 1.0: "the second stage"}.get(stages.chosen.exponent, weaker)
    measure = "" if "continuous" in _modeled_kinds(fit.network) else " in log pseudo-likelihood"
    yield (
        f"A {folds} found that other networks predict held-out observations clearly better than the one with the "
        f"smallest extended BIC ({_clearly(stages)}). The sparsest network that keeps {stages.keep:.0%} of the largest "
        f"cross-validated gain{measure} was taken instead, from {from_stage} (α = {fit.solution.alpha:.4g})."
    )


def _taken_empty(fit: Fit, stages: TwoStageRecord, folds: str) -> Iterator[str]:
    yield f"In a {folds}, none of these networks predicted held-out observations better than a network without edges."


def _taken_in_time(fit: Fit, stages: TwoStageRecord, folds: str) -> Iterator[str]:
    which = {"aic": "AIC", "ebic": "extended BIC"}[stages.chosen.criterion]
    yield f"The network has the smallest {which} of those that were compared (α = {fit.solution.alpha:.4g})."


def _clearly(stages: TwoStageRecord) -> str:
    return f"by two standard errors and {1 - stages.keep:.0%} of the gain over a network without edges"


DECISIONS: dict[Reason, Callable[[Fit, TwoStageRecord, str], Iterator[str]]] = {
    "ebic": _taken_by_ebic,
    "prediction": _taken_by_prediction,
    "empty": _taken_empty,
    "time": _taken_in_time,
}
"""What is said of a two-stage estimate, by the reason for which its network was taken."""


def _describe_proof(fit: Fit) -> Iterator[str]:
    solution = fit.solution
    if fit.edge_errors is not None and np.isfinite(fit.edge_errors).any():
        pooled = ", pooled over imputations by Rubin's rules [@imputation]" if _is_pooled(fit) else ""
        yield (
            "Standard errors are robust (sandwich) errors of the unpenalized estimate on the selected edges"
            f"{pooled}; they do not account for the selection."
        )
    if solution.converged:
        table = "the completed table" if _is_imputed(fit) else "this table"
        yield (
            f"The computation reached the optimum for {table} and penalty (duality gap {solution.duality_gap:.1e}, "
            f"KKT residual {solution.kkt_residual:.1e})."
        )
    else:
        yield (
            f"The computation did NOT reach its tolerance of {fit.tol:g} (duality gap {solution.duality_gap:.1e}, KKT "
            f"residual {solution.kkt_residual:.1e})."
        )


def _is_imputed(fit: Fit) -> bool:
    return fit.missing is not None and fit.missing.treatment == "impute"


def _is_pooled(fit: Fit) -> bool:
    return fit.missing is not None and fit.missing.edge_information is not None


def _describe_bootstrap(fit: Fit, found: Bootstrap) -> Iterator[str]:
    """Say how often rows were drawn again, and how far orders were stable when rows were left out."""
    again = ""
    if not np.isnan(found.alphas).any():
        is_kept = bool((found.alphas == found.alphas[0]).all())
        near = isinstance(fit.method.selector, TwoStage)
        again = (
            ", with the penalty chosen again in each"
            + near * " near that of the whole table, without the check by prediction"
        )
        again = ", at the penalty of the whole table" if is_kept else again
    again += ", and missing cells imputed again in each" if _is_imputed(fit) else ""
    if found.kind == "rows":
        yield f"Intervals are from {found.n_boot} bootstrap resamples of rows{again} [@bootstrap]."
    else:
        stable = ", ".join(f"{value:.2f} ({of.replace('_', ' ')})" for of, value in found.cs_coefficients().items())
        shares = found.drop_shares
        yield (
            f"Stability was assessed by {found.n_boot} subsets of the rows, about {found.n_boot // len(shares)} for "
            f"each of {len(shares)} shares from {shares.min():.0%} to {shares.max():.0%} that were left "
            f"out{again} [@bootstrap]. The CS-coefficients, the largest shares that can be left out with a correlation "
            f"of at least .7 with the whole table in 95% of the subsets, were {stable}."
        )
    if found.n_unconverged:
        yield f"{found.n_unconverged} of these networks did not reach their tolerance."


def _describe_check(check: ModelCheck | None) -> Iterator[str]:
    """Say whether rows simulated from the network are like those of the table."""
    if check is None:
        return
    subject = f"{check.n_simulated} rows simulated from the network"
    cut = ", with variables of more than two values cut in two" if check.is_split else ""
    missed = [
        f"{one.n_flagged} of {len(one.p_values)} {COMPARED[one.what]}" for one in check.comparisons if one.n_flagged
    ]
    if not check.mixed:
        yield f"The chains that simulated {subject} did not mix, so they were not compared with the data."
    elif missed:
        yield (
            f"{subject} did not reproduce {join_words(missed)} of the data (family-wise level 5%{cut}): the network "
            "describes how each variable depends on the others, not the distribution of whole rows."
        )
    else:
        parts = join_words([COMPARED[one.what] for one in check.comparisons])
        yield f"{subject} reproduced the {parts} of the data (family-wise level 5%{cut})."


def describe_comparison(found: GroupComparison) -> Draft:
    """Say how groups were compared, as the methods section of a paper does, and what was found."""
    network = found.networks[0]
    sizes = ", ".join(f"{group} (n = {n})" for group, n in zip(found.groups, found.n_rows, strict=True))
    how = "exchanging labels within subjects" if found.paired else "reassigning rows to groups at random"
    seed = "" if found.seed is None else f" (seed {found.seed})"
    estimate = "" if found.method is None else f", estimated {_describe_likelihood(found.method, network)},"
    sentences = [
        f"Networks of {_describe_columns(network)}{estimate} were compared between {len(found.groups)} groups, "
        f"{sizes}, by a permutation test [@comparison] with {found.n_permutations} permutations{seed}, {how}, using "
        f"isinglass {__version__}.{_describe_covariates('The networks are', found.covariates)}",
        *(() if found.coding is None else _describe_coding(network, found.coding)),
        *_describe_weights_of_groups(found),
        *_describe_missing(
            found.missing, len(found.names) + len(found.covariates), "one network of all rows, ignoring groups"
        ),
        *_describe_deleted(found),
        _describe_common_penalty(found),
        *_describe_differences(found),
        _describe_optima(found),
    ]
    return Draft(" ".join(sentences))


def _describe_weights_of_groups(found: GroupComparison) -> Iterator[str]:
    if found.weight_kind == "sampling":
        yield "Observations had sampling weights, which stayed with their rows in every permutation."
    elif found.weight_kind == "counts":
        yield COUNTS


def _describe_deleted(found: GroupComparison) -> Iterator[str]:
    if found.n_deleted:
        yield (
            "Because groups differed in their share of missing cells, "
            f"{found.n_deleted} further cells were deleted before, by the patterns of the other groups."
        )


def _describe_common_penalty(found: GroupComparison) -> str:
    """Say which penalty the networks of groups and permutations have."""
    chosen = "" if found.method is None else f" ({found.method.words})"
    weights = "" if found.method is None else _describe_penalty_weights(found.method)
    weights = f"; {weights}" if weights else ""
    if found.reselect:
        return f"The penalty was chosen in every group and again in every permutation{chosen}{weights}."
    alpha = found.solutions[0].alpha
    value = "" if np.isnan(alpha) else f" (α = {alpha:.4g})"
    origin = ""
    if found.method is not None and not found.method.selector.is_given:
        origin = f", chosen for all rows together{chosen} and multiplied by the square root of the number of groups"
    return f"All groups and permutations used the same penalty{origin}{value}{weights}."


def _describe_differences(found: GroupComparison) -> Iterator[str]:
    """Say what differs between the groups."""
    if len(found.groups) > 2:
        yield "With more than two groups, differences are those between the two groups furthest apart."
    yield (
        f"The largest difference in a coupling was {found.structure:.3g} (p = {found.p_structure:.3g}), the difference "
        f"in global strength {found.strength:.3g} (p = {found.p_strength:.3g})."
    )
    n_found = int((found.edge_p_family <= FOUND).sum())
    edges = {0: "No edge differed", 1: "One edge differed"}.get(n_found, f"{n_found} edges differed")
    yield (
        f"{edges} at p ≤ {FOUND:g}, corrected for all {found.networks[0].n_pairs} pairs by the distribution of the "
        "largest difference (max-T)."
    )


def _describe_optima(found: GroupComparison) -> str:
    """Say whether the networks reached their optima."""
    if not all(solution.converged for solution in found.solutions):
        return "Not all networks of the groups reached their tolerance."
    gap, residual = (max(getattr(one, name) for one in found.solutions) for name in ("duality_gap", "kkt_residual"))
    missed = f"{found.n_unconverged} permutations did not reach their tolerance" if found.n_unconverged else ""
    return (
        f"The computation reached the optimum in every group (duality gaps up to {gap:.1e}, KKT residuals up to "
        f"{residual:.1e}){f'; {missed}' if missed else ' and in every permutation'}."
    )
