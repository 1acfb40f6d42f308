"""A made-up questionnaire about mood, to try things on."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from isinglass.network import Network
from isinglass.simulate import exact_sample

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
    answers = np.where(exact_sample(model, N_ROWS, random_state=rng) == 1, "yes", "no").astype(object)
    answers[rng.random(answers.shape) < 0.01] = "NA"
    weights = rng.choice([0.5, 1.0, 1.5], N_ROWS)
    with (directory / "mood.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["person", "weight", *names])
        writer.writerows([f"p{k + 1:03d}", weights[k], *row] for k, row in enumerate(answers.tolist()))
    with (directory / "domains.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([("item", "domain"), *ITEMS.items()])
