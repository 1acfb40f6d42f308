"""What the paper proves and what it misprints: claims that need no measurement, and its slips."""

from __future__ import annotations

from paper import published
from paper.contract import Claim, Verdict

PROOFS = {
    "likelihood": "tests/solve/published/test_stacked.py::test_its_logistic_likelihood_is_the_pseudolikelihood",
    "penalty": "tests/paper/test_paper.py::test_stacked_objective_is_the_joint_one_only_with_every_pair_counted_once",
    "sum": "tests/paper/test_paper.py::test_node_wise_objectives_at_half_lambda_sum_to_the_joint_one",
}
"""The tests that fail where a theorem does not hold."""
RULE = (
    "a theorem, checked by the test that is named for random tables and parameters to rounding; with a remark if it "
    "holds only once a slip of the paper is corrected."
)


def claims() -> list[Claim]:
    """Return the two identities that the paper states."""
    conversion = (
        f"The likelihoods are equal (`{PROOFS['likelihood']}`). The penalised objectives are equal if every pair is "
        f"penalised once, as the paper's first form has it; its last form counts it twice (`{PROOFS['penalty']}`)."
    )
    total = (
        "For a symmetric Θ the node-wise objectives with λ/2 and all t ≠ s in the penalty sum to the joint one with λ "
        f"(`{PROOFS['sum']}`): hence half of λ for NLR. As printed, node s would leave its pairs with t < s "
        "unpenalised."
    )
    return [
        Claim(
            "The pseudo-likelihood problem is exactly one logistic regression",
            "Section on the conversion",
            Verdict.REMARK,
            conversion,
            RULE,
        ),
        Claim("The joint objective is the sum of the node-wise ones", "Background", Verdict.REMARK, total, RULE),
    ]


def slips() -> list[str]:
    """Return the paper's slips that matter to a reader who computes."""
    p, probability = published.MISPRINT
    joint, half = (
        published.value(table, p, probability) for table in (published.LAMBDA_JOINT, published.LAMBDA_NODEWISE)
    )
    values = [(row["epsilon"], row["p"], row["P"]) for row in published.rows()]
    twice = [(value, q, prob) for value, q, prob in values if [other for other, *_ in values].count(value) > 1]
    places = " and ".join(f"p = {q}, P = {prob}" for _, q, prob in twice)
    return [
        "The last form of the objective has the penalty Nλ Σ over s ≠ t; read t > s, as in the first form.",
        "The node-wise objective has the penalty Nλ Σ over t > s; read t ≠ s.",
        "The penalised likelihood, its equation (2), has XXᵀ; read XᵀX.",
        f"The table of λ has {joint} for BMN and PLG and {half} for NLR at p = {p}, P = {probability}, which are not "
        f"in the ratio 2 : 1; {2 * half:g} is likely meant.",
        f"The table of ε has {twice[0][0] * 1e4:.5g}e-4 twice, at {places}; one of them is likely a slip of copying.",
    ]
