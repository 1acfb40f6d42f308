"""glmnet through Rscript: the paper's PLG on the stacked design, and one regression per node."""

from __future__ import annotations

from adapters.process import WORKERS, ProcessRival

PROBE = ("Rscript", "-e", "cat('glmnet', as.character(packageVersion('glmnet')), 'R', as.character(getRversion()))")


def rivals() -> list[ProcessRival]:
    """Return glmnet at its default threshold and at one matched to our accuracy."""
    command = ("Rscript", "--vanilla", str(WORKERS / "glmnet.R"))
    install = "apt-get install r-base-core r-cran-glmnet r-cran-matrix"

    def make(name: str, label: str, mode: str, thresh: float, maxit: int) -> ProcessRival:
        options = {"mode": mode, "thresh": thresh, "maxit": maxit}
        nodewise = mode == "nodewise"
        return ProcessRival(name, label, command, PROBE, not nodewise, nodewise, options, install)

    return [
        make("glmnet", "glmnet on (X̃, ỹ), default 1e-7", "stacked", 1e-7, 100_000),
        make("glmnet-tight", "glmnet on (X̃, ỹ), thresh 1e-14", "stacked", 1e-14, 10_000_000),
        make("glmnet-nodewise", "glmnet node-wise, default 1e-7", "nodewise", 1e-7, 100_000),
    ]
