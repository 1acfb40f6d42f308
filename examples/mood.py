"""Write a small simulated survey, mood.csv, and the domains of its questions, domains.csv, for docs/cli.md.

Usage: python examples/mood.py [directory]
"""

import csv
import sys
from pathlib import Path

import numpy as np

from isinglass import Network, simulate

ITEMS = {
    "sad": "mood",
    "no interest": "mood",
    "guilty": "mood",
    "hopeless": "mood",
    "tired": "body",
    "sleepless": "body",
    "no appetite": "body",
    "restless": "anxiety",
    "worried": "anxiety",
    "irritable": "anxiety",
}
COUPLINGS = {
    ("sad", "no interest"): 1.6,
    ("sad", "hopeless"): 1.4,
    ("sad", "guilty"): 1.0,
    ("guilty", "hopeless"): 0.9,
    ("tired", "sleepless"): 1.7,
    ("tired", "no appetite"): 0.9,
    ("tired", "no interest"): 0.9,
    ("restless", "worried"): 1.3,
    ("restless", "irritable"): 1.2,
    ("sleepless", "worried"): 0.9,
    ("sad", "irritable"): 0.7,
}
N_ROWS = 500


def write_mood(directory: Path) -> None:
    """Write mood.csv, the answers, a few of them missing, and domains.csv, what the questions are about."""
    names = list(ITEMS)
    theta = np.zeros((len(names), len(names)))
    for (one, other), coupling in COUPLINGS.items():
        s, t = names.index(one), names.index(other)
        theta[s, t] = theta[t, s] = coupling
    model = Network.from_couplings(theta, -0.5 * theta.sum(axis=1) - 0.4, names)
    rng = np.random.default_rng(6)
    answers = np.where(simulate.exact_sample(model, N_ROWS, random_state=rng) == 1, "yes", "no").astype(object)
    answers[rng.random(answers.shape) < 0.01] = "NA"
    weights = rng.choice([0.5, 1.0, 1.5], N_ROWS)
    with (directory / "mood.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["person", "weight", *names])
        writer.writerows([f"p{k + 1:03d}", weights[k], *row] for k, row in enumerate(answers.tolist()))
    with (directory / "domains.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([("item", "domain"), *ITEMS.items()])


if __name__ == "__main__":
    write_mood(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
