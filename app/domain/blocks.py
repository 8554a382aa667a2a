"""The structure of a text as its reader knew it: what each stretch is, what it stands under, and on which page."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator


class BlockKind(StrEnum):
    """What a stretch of a text is. A head is the row that names a table's columns, a field a line of a mail's head.

    `NEXT_PAGE` is the rest of the block before it, where that goes on on another page.
    """

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    ITEM = "item"
    HEAD = "head"
    ROW = "row"
    CODE = "code"
    FIELD = "field"
    NEXT_PAGE = "next_page"


class Block(NamedTuple):
    """A stretch `[start, end)` of a snapshot. `under` is where its heading, or the head of its table, starts.

    `text` is given where a block stands outside of the passage that it comes with.
    """

    kind: BlockKind
    start: int
    end: int
    under: int | None = None
    page: int | None = None
    text: str = ""


def read_blocks(kept: Iterable[Any]) -> tuple[Block, ...]:
    """Return blocks that were kept as JSON, without what a newer version knew of them."""
    return tuple(Block(BlockKind(kind), *rest[: len(Block._fields) - 1]) for kind, *rest in kept)


KeptBlocks = Annotated[tuple[Block, ...], BeforeValidator(read_blocks)]
