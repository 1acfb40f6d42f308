"""The compiled arithmetic; imports nothing of the rest of the package."""

from isinglass._core._native import Bmn, Lognet, Problem, count_ones, instruction_set

__all__ = ["Bmn", "Lognet", "Problem", "count_ones", "instruction_set"]
