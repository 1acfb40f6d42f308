"""Devices that PyTorch drives: which one is meant, and the rows of a table there."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import ArgumentError, DataError, setting

if TYPE_CHECKING:
    import torch

    from isinglass.solve.device_rows import DeviceRows
BYTES_PER_CELL = 19  # of a table there: codes 1, predictor 8, residual 8, digits 2


def has_package(name: str) -> bool:
    """Tell whether a package is installed, without loading it."""
    return importlib.util.find_spec(name) is not None


def check_device(name: object) -> str:
    """Return the name of a device, if it may be one."""
    if not isinstance(name, str) or not re.fullmatch("cpu|cuda(:[0-9]+)?", name):
        raise ArgumentError("device", 'must be "cpu", "cuda" or "cuda:" and a number', name)
    return name


def find_device(name: str) -> torch.device:
    """Return the PyTorch device of this name, or raise an error that says why there is none."""
    check_device(name)
    if not has_package("torch"):
        raise DataError(f"{setting('device', name)} needs PyTorch, which is not installed. Install isinglass[gpu].")
    import torch

    device = torch.device(name)
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise DataError(
                f"{setting('device', name)} needs a CUDA device, and PyTorch finds none. "
                f"Use {setting('device', 'cpu')}."
            )
        count = torch.cuda.device_count()
        if device.index is not None and device.index >= count:
            raise DataError(
                f"{setting('device', name)} does not exist: PyTorch finds {count} CUDA devices, numbered from 0."
            )
    return device


def rows_on(device: torch.device, table: NDArray[np.uint8], weight: NDArray[np.float64] | None) -> DeviceRows:
    """Return the rows of a table on a device, with fused kernels where there are some: on CUDA with Triton."""
    if device.type == "cuda" and has_package("triton"):
        from isinglass.solve.device_kernels import KernelRows

        return KernelRows(table, weight, device)
    from isinglass.solve.device_rows import DeviceRows

    return DeviceRows(table, weight, device)
