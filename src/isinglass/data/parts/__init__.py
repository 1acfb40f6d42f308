"""Tables in parts: blocks of rows, where their parts are kept, and the table that sums over them."""
