"""Files: unpacked within limits, told apart by format, split and laid out as a table of columns."""
