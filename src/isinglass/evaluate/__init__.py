"""Judging networks: recovery, prediction, imputation."""
