"""Tables of 0 and 1 from files: text, NumPy, Matrix Market, Parquet, Feather, Stata and SPSS."""

from isinglass.tables.reader import read_table

__all__ = ["read_table"]
