"""What takes an element's box from its readers: no size, or a place off the page. Places are estimates."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from retrieval.fetch.styles.lengths import Basis, measure
from retrieval.fetch.styles.lettering import FAINT, Lettering, list_stops, word_of
from retrieval.fetch.styles.media import HEIGHT, WIDTH, split_at_commas
from retrieval.fetch.styles.properties import Tokens
from retrieval.fetch.styles.shapes import has_no_area, is_empty_shape

_PHRASES = "a abbr acronym b bdi bdo big cite code data del dfn em font i ins"
_WORDS = "kbd label mark q s samp small span strike strong sub sup time tt u var"
INLINE = frozenset((*_PHRASES.split(), *_WORDS.split()))
MARGIN = 8.0
"""The margin of a page without another."""
EDGE = 20.0
FAR = 999.0
"""Less may move a box over another."""
PADDED = 10.0
LETTER, LINE = 0.5, 1.2
"""The usual width of a letter and height of a line, in the size of letters."""
_TAKEN = ("absolute", "fixed")
_CUTTING = ("strict", "content", "paint")

Stated = Mapping[str, Tokens]


class Room(NamedTuple):
    """Where a block stands: left edge and width in pixels, its kind of box, and whether something around it cuts text off."""

    left: float = MARGIN
    width: float = WIDTH - 2 * MARGIN
    display: str = "block"
    column: bool = False
    closed: bool = False
    cuts: bool = False
    frame: tuple[float, float] | None = None
    """Width and height of what cuts off the boxes that are placed in it, where they are known."""


class Box(NamedTuple):
    """An element's box with all that is needed to judge it."""

    tag: str
    stated: Stated
    outer: Room
    letters: Lettering
    chars: int
    has_children: bool

    def size_of(self, name: str, whole: float) -> float | None:
        """Return a stated length in pixels."""
        return measure(self.stated.get(name, ()), Basis(self.letters.size, whole))

    @property
    def is_inline(self) -> bool:
        """Say whether the box is a part of a line, which has no size and no place of its own."""
        display = word_of(self.stated, "display")
        in_line = display in ("inline", "contents") if display else self.tag in INLINE
        taken = self.position in _TAKEN or word_of(self.stated, "float") in ("left", "right")
        return in_line and not taken and not self.outer.display.endswith(("flex", "grid"))

    @property
    def position(self) -> str:
        """The kind of placing."""
        return word_of(self.stated, "position")

    @property
    def width(self) -> float:
        """The width, at most what the text takes in a line."""
        stated = self.size_of("width", self.outer.width)
        most = self.size_of("max-width", self.outer.width)
        text = min(self.chars * self.letters.size * LETTER, self.outer.width)
        own = text if stated is None else stated
        return own if most is None else min(own, most)

    @property
    def height(self) -> float:
        """The height, at least a line."""
        stated = self.size_of("height", HEIGHT)
        lines = math.ceil(self.chars * self.letters.size * LETTER / max(self.width, self.letters.size))
        return max(1, lines) * self.letters.size * LINE if stated is None else stated


def enter_room(box: Box) -> Room:
    """Return the room within an element."""
    outer, stated = box.outer, box.stated
    cuts = outer.cuts or (box.tag not in ("html", "body") and cuts_off(stated))
    if not stated:
        return outer._replace(display="inline" if box.tag in INLINE else "block", column=False, closed=False)
    display = word_of(stated, "display") or ("inline" if box.tag in INLINE else "block")
    width = box.size_of("width", outer.width)
    most = box.size_of("max-width", outer.width)
    room = min(part for part in (outer.width, width, most) if part is not None)
    auto = all(word_of(stated, f"margin-{side}") == "auto" for side in ("left", "right"))
    margin = (outer.width - room) / 2 if auto else box.size_of("margin-left", outer.width) or 0.0
    padding = box.size_of("padding-left", outer.width) or 0.0
    moved = outer.left + max(0.0, margin) + padding if not box.is_inline else outer.left
    column = word_of(stated, "flex-direction").startswith("column")
    rows = [token for token in stated.get("grid-template-rows", ()) if token.type in ("dimension", "number")]
    closed = bool(rows) and all(token.value == 0 for token in rows)
    return Room(moved, max(room, 1.0), display, column, closed, cuts, _enter_frame(box, room))


def _enter_frame(box: Box, width: float) -> tuple[float, float] | None:
    if box.position in ("", "static"):
        return box.outer.frame
    height = box.size_of("height", HEIGHT) or None
    return (width, height) if height is not None and cuts_off(box.stated) else None


def cuts_off(stated: Stated) -> bool:
    """Say whether an element cuts off what stands outside its box."""
    contained = any(token.type == "ident" and token.lower_value in _CUTTING for token in stated.get("contain", ()))
    return contained or any(
        word_of(stated, name) not in ("", "visible", "initial", "unset") for name in ("overflow-x", "overflow-y")
    )


def is_box_hidden(box: Box) -> bool:
    """Say whether readers see nothing of an element and of all in it."""
    stated = box.stated
    return (
        word_of(stated, "display") == "none"
        or word_of(stated, "content-visibility") == "hidden"
        or box.letters.opacity < FAINT
        or any(token.type == "url" for token in stated.get("content", ()))
        or _is_cut_away(box)
        or _is_masked(stated)
        or _is_blurred(box)
        or (not box.is_inline and (_is_shrunk(stated) or _is_collapsed(box) or _is_indented_away(box)))
        or _is_off_page(box)
    )


def _is_cut_away(box: Box) -> bool:
    clip = [token for token in box.stated.get("clip", ()) if token.type == "function"] if box.position in _TAKEN else []
    return any(
        is_empty_shape(token, Basis(box.letters.size, max(box.width, 1.0)), max(box.height, 1.0))
        for token in (*clip, *box.stated.get("clip-path", ()))
        if token.type == "function"
    )


def _is_masked(stated: Stated) -> bool:
    image = stated.get("mask-image", ())
    stops = list_stops(image, None) if image and image[0].type == "function" else None
    return stops is not None and all(stop.alpha < FAINT for stop in stops)


def _is_blurred(box: Box) -> bool:
    for token in box.stated.get("filter", ()):
        if token.type == "function" and token.lower_name == "blur":
            reach = measure(token.arguments, Basis(box.letters.size))
            return reach is not None and reach >= box.letters.size / 2
    return False


def _is_shrunk(stated: Stated) -> bool:
    """Say whether a transform leaves no width or no height."""
    factors = [token for token in stated.get("scale", ()) if token.type in ("number", "percentage")]
    if any(abs(token.value / (100 if token.type == "percentage" else 1)) < FAINT for token in factors[:2]):
        return True
    return any(has_no_area(token) for token in stated.get("transform", ()) if token.type == "function")


def _is_collapsed(box: Box) -> bool:
    """Say whether a box has no width or height, and it, or one around it, cuts off its text. Cells of tables fit their text."""
    cuts = cuts_off(box.stated)
    if not (cuts or box.outer.cuts) or box.tag in ("td", "th") or word_of(box.stated, "display") == "contents":
        return False
    no_line = box.letters.line is not None and box.letters.line < 2 and not box.has_children and "height" not in box.stated
    squeezed = box.outer.closed and cuts
    return squeezed or (no_line and not _is_padded(box)) or _is_flat_on(box, "width") or _is_flat_on(box, "height")


def _is_flat_on(box: Box, side: str) -> bool:
    least, most, own = (box.size_of(f"{bound}{side}", box.outer.width) for bound in ("min-", "max-", ""))
    if (least is not None and least > 1) or (side == "height" and _is_padded(box)) or _grows(box, side):
        return False
    percent = any(token.type == "percentage" and token.value for token in box.stated.get(side, ()))
    return (own is not None and own <= 1 and not percent) or (most is not None and most <= 1)


def _is_padded(box: Box) -> bool:
    """Say whether text is seen in the padding: below the line, or where something else is placed on it."""
    below, above = (box.size_of(f"padding-{side}", box.outer.width) or 0.0 for side in ("bottom", "top"))
    return below >= PADDED or (above >= PADDED and box.has_children)


def _grows(box: Box, side: str) -> bool:
    """Say whether the element takes the room that its flexible parent has on this side, whatever size it states."""
    along = "height" if box.outer.column else "width"
    grows = box.size_of("flex-grow", 1.0) or 0.0
    return along == side and box.outer.display.endswith("flex") and f"max-{side}" not in box.stated and grows > 0


def _is_indented_away(box: Box) -> bool:
    indent = box.size_of("text-indent", box.outer.width)
    if indent is None:
        return False
    one_line = word_of(box.stated, "white-space") in ("nowrap", "pre")
    text = box.chars * box.letters.size * LETTER
    return indent <= -min(FAR, text + box.outer.left) or (
        indent >= box.width and one_line and (cuts_off(box.stated) or indent >= WIDTH)
    )


def _is_off_page(box: Box) -> bool:
    moves_x, moves_y = _find_moves(box)
    placed = box.position not in ("", "static")
    names = ("left", "right", "top", "bottom")
    left, right, top, bottom = ((box.size_of(name, WIDTH if name in names[:2] else HEIGHT) if placed else None) for name in names)
    if left is None and right is not None:
        left = box.outer.width - right - box.width if box.position in _TAKEN else -right
    if (
        box.position == "absolute"
        and box.outer.frame
        and ((left or 0.0) >= box.outer.frame[0] or (top or 0.0) >= box.outer.frame[1])
    ):
        return True
    x = (left or 0.0) + (box.size_of("margin-left", box.outer.width) or 0.0) + moves_x
    if x and (x <= -FAR or box.outer.left + x + box.width <= 0 or box.outer.left + x >= WIDTH - EDGE):
        return True
    if top is None and bottom is not None and box.position == "fixed":
        top = HEIGHT - bottom - box.height
    y = (top or 0.0) + (box.size_of("margin-top", box.outer.width) or 0.0) + moves_y
    if box.position in _TAKEN and top is not None and y + box.height <= 0:
        return True
    below = top is None and bottom is not None and abs(bottom) >= FAR and box.position == "absolute"
    return y <= -FAR or below or (box.position == "fixed" and y >= HEIGHT)


def _find_moves(box: Box) -> tuple[float, float]:
    """Return how far the transforms of a box move it to the right and down. A line's parts are not moved."""
    if box.is_inline:
        return 0.0, 0.0
    parts = [("translate", [[token] for token in box.stated.get("translate", ()) if token.type != "ident"])]
    functions = (token for token in box.stated.get("transform", ()) if token.type == "function")
    parts += [(token.lower_name, list(split_at_commas(token.arguments))) for token in functions]
    x = y = 0.0
    for name, arguments in parts:
        across = [measure(part, Basis(box.letters.size, box.width)) or 0.0 for part in arguments]
        down = [measure(part, Basis(box.letters.size, box.height)) or 0.0 for part in arguments]
        if name in ("translate", "translate3d", "translatex") and across:
            x += across[0]
        if name in ("translate", "translate3d") and len(down) > 1:
            y += down[1]
        if name == "translatey" and down:
            y += down[0]
        if name == "matrix" and len(across) == 6:
            x, y = x + across[4], y + across[5]
    return x, y
