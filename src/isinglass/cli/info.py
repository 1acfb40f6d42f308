"""isinglass info: what a table holds, what fitting it will cost, and which options a fit needs."""

from __future__ import annotations

from isinglass.cli.command import command
from isinglass.cli.console import Console
from isinglass.cli.info_text import facts_in_words, needs_in_words, table_lines, wrap_facts
from isinglass.cli.option_table import TABLE
from isinglass.cli.reading import READING, Reading
from isinglass.cli.table_info import describe_contents, estimate_time, look, options_needed, weights_alike
from isinglass.errors import DataError, plural


@command("info", TABLE, bundles=[READING], general="strict as_json")
def info(console: Console, table: str, n_jobs: int, reading: Reading) -> None:
    """Check TABLE before fitting.

    Lists the columns with their kinds, values, missing cells and anything doubtful. Then prints the size of the table,
    columns that are constant, the smallest penalty without edges, and the memory and time that a fit will take. The
    kind of a column that is not 0 and 1 is guessed unless you state it, and the options that `fit` needs are shown.
    TABLE may be - for stdin. With --strict, everything is printed, and the exit code is 3 if anything is doubtful.
    """
    data, columns = look(console, table, reading)
    found = describe_contents(data, columns)
    varies = len(found["constant_columns"]) < data.shape[1] and found["alpha_max"] != 0
    with console.progress("Trial fits"):
        found["estimate"] |= estimate_time(data, n_jobs) if varies else {"seconds": 0.0, "n_tried": 0, "finished": True}
    needed = options_needed(columns, reading, data.n_missing)
    if console.as_json:
        console.write_json({**found, "options": needed})
    else:
        apart = [columns[j].name for j in weights_alike(columns, reading)]
        facts = {
            **facts_in_words(data, found, reading.describe_file(data), apart),
            **needs_in_words(columns, needed, console.doubts),
        }
        console.write("".join(f"{line}\n" for line in (*table_lines(columns), "", *wrap_facts(facts))))
    if console.doubts and console.strict:
        raise DataError(f"{plural(len(console.doubts), 'warning')} about the table; --strict treats them as errors.")
