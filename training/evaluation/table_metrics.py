"""Metrics of tables against gold tables, as WideSearch scores them: by row, by cell, and for the whole table.

Rows belong together when their key columns agree. The measure of a column decides whether its cells are right.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from training.evaluation.answer_metrics import tokens_of

TableRow = Mapping[str, str]
_RULE = re.compile(r"[\s|:-]+")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_DATE = re.compile(r"\d+")


def normalise_column(name: str) -> str:
    """Return a column's name without spaces and case."""
    return re.sub(r"\s+", "", name).casefold()


def find_table(text: str) -> list[TableRow] | None:
    """Return the rows of the longest Markdown table of a text, by normalised column; None without a table."""
    tables: list[list[str]] = [[]]
    for line in text.splitlines():
        if "|" in line:
            tables[-1].append(line)
        elif tables[-1]:
            tables.append([])
    lines = [line for line in max(tables, key=len) if not _RULE.fullmatch(line)]
    if len(lines) < 2:
        return None
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    names = [normalise_column(name) for name in cells[0]]
    return [dict(zip(names, row, strict=False)) for row in cells[1:]]


def is_same_text(said: str, gold: str) -> bool:
    """Say whether both have the same words, in any case and with any punctuation."""
    return tokens_of(said) == tokens_of(gold)


def is_same_address(said: str, gold: str) -> bool:
    """Say whether both have the same host and path, with or without `www.`, scheme and closing slash."""
    try:
        one, other = (urlsplit(text if "//" in text else f"//{text}") for text in (said.strip(), gold.strip()))
    except ValueError:  # words that are no address
        return False
    host = (one.netloc.removeprefix("www.").lower(), other.netloc.removeprefix("www.").lower())
    return bool(host[1]) and host[0] == host[1] and one.path.rstrip("/") == other.path.rstrip("/")


def is_near_number(said: str, gold: str, tolerance: float) -> bool:
    """Say whether the first numbers of both differ by a relative distance of at most `tolerance`."""
    one, other = _read_number(said), _read_number(gold)
    if one is None or other is None:
        return is_same_text(said, gold)
    return abs(one - other) <= tolerance * abs(other)


def is_same_date(said: str, gold: str) -> bool:
    """Say whether both have the same numbers in the same order, such as 2024-05-01 and 2024/5/1."""
    one, other = [int(part) for part in _DATE.findall(said)], [int(part) for part in _DATE.findall(gold)]
    return one == other if one and other else is_same_text(said, gold)


def is_within(said: str, gold: str) -> bool:
    """Say whether one of the texts contains the words of the other, in one piece."""
    one, other = f" {' '.join(tokens_of(said))} ", f" {' '.join(tokens_of(gold))} "
    return bool(one.strip()) and bool(other.strip()) and (one in other or other in one)


def _read_number(text: str) -> float | None:
    found = _NUMBER.search(text)
    return float(found.group().replace(",", "")) if found else None


@dataclass(frozen=True, slots=True)
class TableScore:
    """The scores of a table, each from 0 to 1; `whole` is 1 where nothing is wrong, missing or too much."""

    row_f1: float
    item_f1: float
    whole: float


def table_score(right: Sequence[Sequence[bool]], said_rows: int, gold_rows: int, columns: int) -> TableScore:
    """Score a table. `right` says for each row that has a gold row which of its cells are right.

    Raises:
        ValueError: the gold table is empty, or more rows belong together than there are.
    """
    if not gold_rows or not columns or len(right) > min(said_rows, gold_rows):
        raise ValueError("a gold table needs rows and columns, and each row belongs to one gold row at most")
    rows, items = sum(all(cells) for cells in right), sum(sum(cells) for cells in right)
    row_f1 = 2 * rows / (said_rows + gold_rows)
    item_f1 = 2 * items / ((said_rows + gold_rows) * columns)
    return TableScore(row_f1, item_f1, float(row_f1 == 1.0))
