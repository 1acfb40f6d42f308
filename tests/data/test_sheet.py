"""What can be done to a table before it is read: the same whatever it came in."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from isinglass.data.cells import Vocabulary
from isinglass.data.conversion import convert_source
from isinglass.data.header import lay_out
from isinglass.data.limits import Limits
from isinglass.data.sheet import as_sheet
from isinglass.data.sources import open_source
from isinglass.data.text import read_records
from isinglass.errors import DataError

BITS = np.array([[0, 1, 1, 0], [1, 0, 1, 1], [0, 0, 1, 0]])
NAMES = ["a", "b", "c", "d"]


def sheet_of(table):
    return as_sheet(open_source(table))


def text_sheet(table):
    text = "\n".join([",".join(NAMES), *[",".join(map(str, row)) for row in table]])
    return lay_out(read_records(text.encode(), ",", Limits()), Vocabulary(), True)


KINDS = {
    "text": text_sheet,
    "array": sheet_of,
    "sparse": lambda table: sheet_of(sparse.csr_array(table)),
    "frame": lambda table: sheet_of(pd.DataFrame(table, columns=NAMES)),
    "mixed": lambda table: sheet_of(pd.DataFrame(table, columns=NAMES).astype({"b": "Int64", "d": object})),
}


def read(sheet, **options):
    defaults = {"names": None, "missing": "error", "encode": None, "binarize": None}
    return convert_source(sheet, **{**defaults, **options})


@pytest.mark.parametrize("kind", KINDS)
def test_columns_and_transposition(kind):
    sheet = KINDS[kind](BITS)
    assert read(sheet).X.tolist() == BITS.tolist()
    assert read(sheet.take([2, 0])).X.tolist() == BITS[:, [2, 0]].tolist()
    assert read(sheet.without(1)).X.tolist() == BITS[:, [0, 2, 3]].tolist()
    assert read(sheet.transpose()).X.tolist() == BITS.T.tolist()
    assert read(sheet.transpose().take([1]).transpose()).X.tolist() == BITS[[1]].tolist()
    assert read(sheet.take([3, 2, 1]).take([0, 2])).X.tolist() == BITS[:, [3, 1]].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_stand_for_missing_cells(kind):
    table = np.where(BITS == 0, -9, BITS)
    vocabulary = Vocabulary.build([-9])
    if kind == "text":
        text = "\n".join(",".join(map(str, row)) for row in table)
        sheet = lay_out(read_records(text.encode(), ",", Limits()), vocabulary, False)
    else:
        sheet = KINDS[kind](table).mark_missing(vocabulary)
    for turned in (sheet, sheet.transpose()):
        result = read(turned, missing="zero")
        assert (result.X if turned is sheet else result.X.T).tolist() == BITS.tolist()
        assert result.n_missing == 6
    assert read(sheet, missing="zero", encode={1: 0}).X.tolist() == np.zeros_like(BITS).tolist()


def test_names_go_with_their_columns():
    sheet = KINDS["frame"](BITS)
    sheet = replace(sheet.without(0), row_names=sheet.column_words(0))
    assert (sheet.names, sheet.row_names) == (["b", "c", "d"], ["0", "1", "0"])
    turned = sheet.transpose()
    assert (turned.names, turned.row_names) == (["0", "1", "0"], ["b", "c", "d"])
    assert turned.describe_row(1) == "row 'c'"


def test_finding_columns():
    sheet = text_sheet(BITS)
    assert [sheet.find(key, "drop") for key in ("c", 2, -2, np.int64(2))] == [2, 2, 2, 2]
    with pytest.raises(DataError, match=r"drop must be a column of the table; got 'z'\. The table has 'a', 'b'"):
        sheet.find("z", "drop")
    with pytest.raises(DataError, match="drop must be a column of the table, which has 4; got number 4"):
        sheet.find(4, "drop")
    with pytest.raises(DataError, match=r"got 'a'\. The table has no names"):
        sheet_of(BITS).find("a", "drop")
    with pytest.raises(DataError, match="must leave a column"):
        sheet.take([])


def test_messages_count_columns_as_the_file_does():
    sheet = sheet_of(BITS * 3).without(0)
    with pytest.raises(DataError, match=r"got 3 in column 2 of the file \(first in row 1\)"):
        read(sheet)
