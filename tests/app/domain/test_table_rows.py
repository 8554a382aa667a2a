"""A table's row as one statement under the heads of its columns."""

from app.domain.table_rows import find_row

TABLE = """Wages rose [[aaaa]].

| City | **Wages** in 1890 | Remark |
|:--|---|---|
| Berlin | 1,200 [[aaaa]] | rose, *they say* [[bbbb]] |
| Paris |  | fell |

| a bar | and no head |"""


def test_a_cell_belongs_to_its_row_and_a_sentence_to_none() -> None:
    first = "City: Berlin; Wages in 1890: 1,200; Remark: rose, they say"
    assert find_row(TABLE, TABLE.index("1,200")) == find_row(TABLE, TABLE.index("rose, ")) == first
    assert find_row(TABLE, TABLE.index("fell")) == "City: Paris; Remark: fell", "an empty cell keeps its column"
    assert find_row(TABLE, TABLE.index("and no head")) == "a bar; and no head"
    assert [find_row(TABLE, TABLE.index(words)) for words in ("Wages rose", ":--")] == ["", ""]
