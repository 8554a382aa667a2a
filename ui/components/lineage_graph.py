"""The lineage of models as a drawing: each version beside the one that it was trained from, in the colour of its state."""

from collections.abc import Sequence

from rubrica_client.models import ModelVersionView
from ui.components.markup import escape
from ui.language import say, say_name

WIDTH, HEIGHT, BESIDE, BELOW = 210, 44, 40, 16
CLASSES = {"serving": "full", "canary": "partial", "refused": "bad", "withdrawn": "bad"}


def lineage_html(versions: Sequence[ModelVersionView], chosen: str = "") -> str:
    """Return the drawing as HTML; `chosen` is the id of a version that stands out. Parents that are not listed are left out."""
    places = _place(versions)
    parts = [_box_html(each, *places[each.id], each.id == chosen) for each in versions]
    parts += [_line_html(*places[each.parent], *places[each.id]) for each in versions if each.parent and each.parent in places]
    width = max((column for column, _ in places.values()), default=0) * (WIDTH + BESIDE) + WIDTH
    height = max((row for _, row in places.values()), default=0) * (HEIGHT + BELOW) + HEIGHT
    return (
        f'<div class="r-wide"><div class="r-lineage" role="list" aria-label="{escape(say("models.lineage"))}" '
        f'style="width:{width}px;height:{height}px">{"".join(parts)}</div></div>'
    )


def _place(versions: Sequence[ModelVersionView]) -> dict[str, tuple[int, int]]:
    """Return column and row of each version: a child stands right of its parent, and below its elder siblings."""
    known = {each.id for each in versions}
    ordered = sorted(versions, key=lambda each: (each.created_at, each.number))
    places: dict[str, tuple[int, int]] = {}
    waiting = [(each, 0) for each in reversed(ordered) if each.parent not in known]
    row = 0
    while waiting:
        version, column = waiting.pop()
        children = [each for each in ordered if each.parent == version.id]
        places[version.id] = (column, row)
        waiting += [(each, column + 1) for each in reversed(children)]
        row += not children  # the first child stands beside its parent, in its row
    return places


def _box_html(version: ModelVersionView, column: int, row: int, chosen: bool) -> str:
    kind = CLASSES.get(version.state, "none") + (" chosen" if chosen else "")
    name = escape(say("models.version", role=say_name("model_role", version.role), number=version.number))
    style = f"left:{column * (WIDTH + BESIDE)}px;top:{row * (HEIGHT + BELOW)}px;width:{WIDTH}px;height:{HEIGHT}px"
    return (
        f'<div class="box {kind}" role="listitem" title="{escape(version.name)}" style="{style}"><strong>{name}</strong>'
        f"<span>{escape(say_name('version_state', version.state))}</span></div>"
    )


def _line_html(from_column: int, from_row: int, column: int, row: int) -> str:
    """Return a line from the middle of a parent's right side to that of its child's left side, round a corner."""
    x, middle = from_column * (WIDTH + BESIDE) + WIDTH, HEIGHT // 2
    y, down = from_row * (HEIGHT + BELOW) + middle, (row - from_row) * (HEIGHT + BELOW)
    start = f'<i style="left:{x}px;top:{y}px;width:{BESIDE // 2}px"></i>'
    return f'{start}<i class="corner" style="left:{x + BESIDE // 2}px;top:{y}px;width:{BESIDE // 2}px;height:{down}px"></i>'
