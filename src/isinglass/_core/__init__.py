"""The compiled arithmetic; imports nothing of the rest of the package."""

from isinglass._core._native import Nodewise, Problem, instruction_set

__all__ = ["Nodewise", "Problem", "instruction_set"]
