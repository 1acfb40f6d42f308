"""Meaning: what the values of columns stand for, how this is found and applied, and warnings and refusals about it."""
