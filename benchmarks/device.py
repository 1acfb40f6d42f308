"""Measure rows on a CUDA device: python benchmarks/device.py [part ...]; see docs/benchmarks/device.md.

Every part prints one line of JSON per measurement and appends it to the file named in ISINGLASS_RESULTS.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch

import isinglass
from isinglass import ising_path, objective
from isinglass.solve.device import rows_on
from isinglass.solve.device_kernels import KernelRows

DEVICE = os.environ.get("ISINGLASS_DEVICE", "cuda")
QUICK = bool(os.environ.get("ISINGLASS_QUICK"))
THREADS = os.cpu_count()
PARTS = [
    *(
        "rate",
        "pairs",
        "small",
        "ten",
        "hundred",
        "tumor",
        "most",
        "weighted",
        "dense",
        "resampling",
        "together",
        "memory",
    ),
    "profile",
]


def record(part, **values):
    """Print and keep one measurement."""
    line = json.dumps({"part": part, **values})
    print(line, flush=True)
    if name := os.environ.get("ISINGLASS_RESULTS"):
        with Path(name).open("a") as file:
            file.write(line + "\n")


def ring(n, p, seed, reach=1, coupling=1.0, sweeps=60):
    """Sample a ring in which each node is joined to its ``reach`` next ones, by Gibbs sweeps on the device.

    Fields -half the couplings' sum, so that ones and zeros are alike. Returns the table and the edges.
    """
    generator = torch.Generator(device=DEVICE).manual_seed(seed)
    p = p // (reach + 1) * (reach + 1)
    x = (torch.rand((n, p), device=DEVICE, generator=generator) < 0.5).to(torch.float32)
    for _ in range(sweeps):
        for color in range(reach + 1):
            nodes = torch.arange(color, p, reach + 1, device=DEVICE)
            total = sum(x[:, (nodes + step) % p] - 0.5 for step in range(-reach, reach + 1) if step != 0)
            x[:, nodes] = (
                torch.rand(total.shape, device=DEVICE, generator=generator) < torch.sigmoid(coupling * total)
            ).float()
    edges = {tuple(sorted((s, (s + step) % p))) for s in range(p) for step in range(1, reach + 1)}
    return x.to(torch.uint8).cpu().numpy(), edges


def recovered(solution, truth):
    """Precision and recall of the edges."""
    found = set(map(tuple, solution.edge_index.tolist()))
    hits = len(found & truth)
    return {
        "edges": len(found),
        "precision": round(hits / max(len(found), 1), 4),
        "recall": round(hits / len(truth), 4),
    }


def timed_path(X, device, alphas, **options):
    """Run a path; return it, the seconds, and the peak memory of the device."""
    if device != "cpu":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    path = ising_path(X, alphas, device=device, **options)
    seconds = time.perf_counter() - start
    peak = torch.cuda.max_memory_allocated() if device != "cpu" else 0
    return path, round(seconds, 3), round(peak / 1e9, 2)


def run(part, X, truth, alphas, **options):
    """Measure one path on the device, with what it found at the end."""
    times = []

    def note(solution):
        times.append(time.perf_counter())

    path, seconds, peak = timed_path(X, DEVICE, alphas, callback=note, **options)
    record(
        part, n=len(X), p=X.shape[1], alphas=len(path), seconds=seconds, device_gb=peak,
        first_alpha_after=round(times[0] - times[-1] + seconds, 3) if times else None,
        converged=bool(path.converged.all()), kkt=max(s.kkt_residual for s in path),
        certified_zeros=[s.certified_zeros for s in path][-1], newton=sum(s.n_iter for s in path),
        working=path[-1].alpha, **recovered(path[-1], truth),
    )  # fmt: skip
    return path


def compare(part, X, path, alphas, **options):
    """Fit on the CPU and hold the device's path against it."""
    other, seconds, _ = timed_path(X, "cpu", alphas, n_threads=THREADS, **options)
    same = all(a.edge_index.tolist() == b.edge_index.tolist() for a, b in zip(path, other, strict=True))
    apart = max(
        float(np.abs(a.edge_values - b.edge_values).max(initial=0.0)) if len(a.edge_values) == len(b.edge_values) else 9
        for a, b in zip(path, other, strict=True)
    )
    record(part, cpu_seconds=seconds, cpu_threads=THREADS, same_edges=same, largest_difference=apart)
    return other


def small():
    """Equal edges on p = 1000 and 5000 and on the Senate, gaps recomputed."""
    senate = isinglass.datasets.load_senate109().X
    tables = [("senate", np.asarray(senate)), ("p1000", ring(2000, 1000, 1)[0]), ("p5000", ring(3000, 5000, 2)[0])]
    for name, X in tables:
        ratio = 0.2 if name == "senate" else 0.5
        path, seconds, peak = timed_path(X, DEVICE, 20, alpha_min_ratio=ratio)
        again, second, _ = timed_path(X, DEVICE, 20, alpha_min_ratio=ratio)
        bits = all(a.edge_values.tobytes() == b.edge_values.tobytes() for a, b in zip(path, again, strict=True))
        record(
            name, seconds=seconds, again=second, device_gb=peak, same_bits=bits, converged=bool(path.converged.all())
        )
        compare(name, X, path, 20, alpha_min_ratio=ratio)
        last = path[-1]
        if X.shape[1] <= 1000:
            gap = objective.Objective(X).relative_gap(last.network, last.alpha)
            record(name, relative_gap_recomputed=float(gap), edges=last.n_edges)


def ten():
    """P = N = 10 000, 20 alphas to half of alpha_max, beside the CPU."""
    X, truth = ring(10_000, 10_000, 3)
    for _ in range(2):
        path = run("ten", X, truth, 20, alpha_min_ratio=0.5)
    if not QUICK:
        compare("ten", X, path, 20, alpha_min_ratio=0.5)


def hundred():
    """P = 100 000, N = 3000, 2 neighbors per node, 10 alphas down to 50 000 edges or more."""
    X, truth = ring(3000, 100_000, 4)
    run("hundred", X, truth, 10, alpha_min_ratio=0.5)


def most():
    """P = 100 000, N = 10 000, once."""
    X, truth = ring(10_000, 100_000, 5, sweeps=30)
    run("most", X, truth, 10, alpha_min_ratio=0.5)


def tumor():
    """P = 20 000, N = 400."""
    X, truth = ring(400, 20_000, 6, coupling=2.0)
    run("tumor", X, truth, 10, alpha_min_ratio=0.6)


def pairs():
    """Time the all-pairs step alone."""
    shapes = [(1000, 100_000), (10_000, 10_000), (10_000, 20_000), (10_000, 100_000)]
    for n, p in shapes[: 2 if QUICK else 4]:
        X = (np.random.default_rng(0).random((n, p), dtype=np.float32) < 0.4).astype(np.uint8)
        rows = rows_on(torch.device(DEVICE), X, None)
        nodes, empty = np.arange(p, dtype=np.int32), np.zeros(p + 1, dtype=np.int64)
        none = np.zeros(0, dtype=np.int32)
        rows.move(nodes, np.zeros(p), empty, none, np.zeros(0), empty, none, True)
        rows.penalize(None)
        top = rows.largest()
        times = []
        for _ in range(5):
            torch.cuda.synchronize()
            start = time.perf_counter()
            found, _ = rows.scan(0.9 * top, 0.0, top, 1.0, 1e-6)
            times.append(time.perf_counter() - start)
        seconds = sorted(times)[2]
        record(
            "pairs",
            n=n,
            p=p,
            seconds=round(seconds, 4),
            tops=round(4 * p * p * n / seconds / 1e12, 1),
            found=len(found),
        )
        del rows, X
        gc.collect()
        torch.cuda.empty_cache()


def rate():
    """Measure the int8 rate of a large matrix product."""
    a = torch.randint(-128, 127, (16384, 16384), dtype=torch.int8, device=DEVICE)
    times = []
    for _ in range(6):
        torch.cuda.synchronize()
        start = time.perf_counter()
        torch._int_mm(a, a.T)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    record("rate", tops=round(2 * 16384**3 / sorted(times)[2] / 1e12, 1))


def weighted():
    """Fit with row weights that differ by a factor of some hundreds: several groups of rows."""
    X, truth = ring(3000, 5000, 2)
    weight = np.exp(np.random.default_rng(1).normal(size=len(X)))
    path = run("weighted", X, truth, 20, alpha_min_ratio=0.5, sample_weight=weight)
    compare("weighted", X, path, 20, alpha_min_ratio=0.5, sample_weight=weight)


def dense():
    """Fit five factors behind 500 columns: nodes with hundreds of neighbors."""
    rng = np.random.default_rng(0)
    n, p, k = 400, 500, 5
    scores = 1.7 * rng.normal(size=(n, k)) @ rng.normal(size=(k, p)) / np.sqrt(k) - 1 + 0.8 * rng.normal(size=p)
    X = (rng.random((n, p)) < 1 / (1 + np.exp(-scores))).astype(np.uint8)
    path = run("dense", X, {(0, 1)}, 12, alpha_min_ratio=0.05)
    compare("dense", X, path, 12, alpha_min_ratio=0.05)


def resampling():
    """Paths of subsamples, one after the other, on the device and on the CPU."""
    for p in (200, 500):
        X, _ = ring(2000, p, 7)
        rng = np.random.default_rng(0)
        draws = [rng.permutation(len(X))[:1000] for _ in range(10)]
        seconds = {}
        for device in (DEVICE, "cpu"):
            ising_path(X[draws[0]], 5, device=device)
            start = time.perf_counter()
            for rows in draws:
                ising_path(X[rows], 20, alpha_min_ratio=0.1, device=device, n_threads=THREADS)
            seconds[device] = round(time.perf_counter() - start, 3)
        record("resampling", p=p, paths=len(draws), seconds=seconds)


def together():
    """Two processes on one device at the same time, and one alone: the same bits."""
    code = (
        "import hashlib, sys, benchmarks.device as d; from isinglass import ising_path;"
        "X = d.ring(2000, 3000, 8, sweeps=20)[0];"
        "path = [ising_path(X, 15, alpha_min_ratio=0.4, device=d.DEVICE) for _ in range(3)][-1];"
        "print(hashlib.sha256(b''.join(s.edge_values.tobytes() for s in path)).hexdigest())"
    )

    def begin():
        return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)

    both = [begin(), begin()]
    marks = [process.communicate()[0].strip() for process in both] + [begin().communicate()[0].strip()]
    record("together", same_bits=len(set(marks)) == 1 and len(marks[0]) == 64)


def memory():
    """Fill the device: smaller steps, or a message with the bytes."""
    X, _ = ring(2000, 3000, 8, sweeps=20)
    whole = ising_path(X, 5, alpha_min_ratio=0.5, device=DEVICE)
    torch.cuda.empty_cache()
    room = int(19 * 2048 * 3072 / 0.9)
    held = torch.empty(torch.cuda.mem_get_info()[0] - room - 2**27, dtype=torch.uint8, device=DEVICE)
    tight = ising_path(X, 5, alpha_min_ratio=0.5, device=DEVICE)
    same = all(a.edge_index.tolist() == b.edge_index.tolist() for a, b in zip(whole, tight, strict=True))
    record("memory", free_gb=round((room + 2**27) / 1e9, 2), same_edges=same, converged=bool(tight.converged.all()))
    try:
        ising_path(np.tile(X, (4, 2)), 5, device=DEVICE)
    except isinglass.errors.LimitError as error:
        record("memory", message=str(error))
    del held


def profile():
    """Where the seconds of p = N = 10 000 go, by call."""
    X, _ = ring(10_000, 10_000, 3, sweeps=20)
    ising_path(X[:500, :200], 5, device=DEVICE)
    spent = {}

    def timing(name, function):
        def wrapped(self, *arguments):
            start = time.perf_counter()
            answer = function(self, *arguments)
            torch.cuda.synchronize()
            calls, seconds = spent.get(name, (0, 0.0))
            spent[name] = calls + 1, seconds + time.perf_counter() - start
            return answer

        return wrapped

    kept = {}
    for name in (
        "__init__",
        "move",
        "gradients",
        "blocks",
        "diagonals",
        "products",
        "divergence",
        "scan",
        "largest",
        "overlaps",
    ):
        kept[name] = getattr(KernelRows, name)
        setattr(KernelRows, name, timing(name, kept[name]))
    path, seconds, peak = timed_path(X, DEVICE, 20, alpha_min_ratio=0.5)
    for name, function in kept.items():
        setattr(KernelRows, name, function)
    calls = {name: [count, round(each, 3)] for name, (count, each) in spent.items()}
    record(
        "profile",
        seconds=seconds,
        device_gb=peak,
        newton=sum(s.n_iter for s in path),
        calls=calls,
        edges=len(path[-1].edge_values),
    )


def main():
    """Run the parts named on the command line, or all."""
    versions = {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}
    if DEVICE != "cpu":
        versions["device"] = torch.cuda.get_device_name()
    record("machine", date=time.strftime("%Y-%m-%d"), cores=THREADS, isinglass=isinglass.__version__, **versions)
    for name in sys.argv[1:] or PARTS:
        start = time.perf_counter()
        try:
            globals()[name]()
        except Exception as error:  # the other parts are still wanted
            record(name, error=repr(error)[:500])
        gc.collect()
        if DEVICE != "cpu":
            torch.cuda.empty_cache()
        record("done", of=name, seconds=round(time.perf_counter() - start, 1))


if __name__ == "__main__":
    main()
