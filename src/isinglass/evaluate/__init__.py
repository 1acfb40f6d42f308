"""Measures of networks: recovery, prediction, imputation, likelihood, and how well they reproduce a table."""
