"""The styles of a Word document: a property that a paragraph or a run does not state is its style's."""

from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OFF = ("0", "false", "off", "none")


def read_value(element: Any, path: str) -> str | None:
    """Return the `val` of the element at a path ("pPr/numPr/ilvl"); "" where it states none, None where there is no element."""
    found = element.find("/".join(f"{W}{name}" for name in path.split("/"))) if element is not None else None
    return None if found is None else str(found.get(f"{W}val", ""))


class Styles:
    """The styles by their ids, from the part `styles` (None: the document has none)."""

    def __init__(self, part: Any) -> None:
        found = [] if part is None else list(part.iter(f"{W}style"))
        self._styles = {style.get(f"{W}styleId"): style for style in found}
        self._usual = next((i for i, style in self._styles.items() if style.get(f"{W}default") in ("1", "true", "on")), None)

    def find_value(self, style: str | None, path: str) -> str | None:
        """Return the value that a style or the nearest of those that it is based on states, None where none does."""
        seen: set[str | None] = set()
        while style in self._styles and style not in seen:
            seen.add(style)
            value = read_value(self._styles[style], path)
            if value is not None:
                return value
            style = read_value(self._styles[style], "basedOn")
        return None

    def find_name(self, style: str | None) -> str:
        """Return the name of a style."""
        return read_value(self._styles.get(style if style is not None else self._usual), "name") or ""

    def find_run_value(self, run: Any, paragraph_style: str | None, name: str) -> str | None:
        """Return what a run states, else its style, else its paragraph's style."""
        stated = read_value(run, f"rPr/{name}")
        if stated is None:
            stated = self.find_value(read_value(run, "rPr/rStyle"), f"rPr/{name}")
        return self.find_value(paragraph_style, f"rPr/{name}") if stated is None else stated

    def is_on(self, run: Any, paragraph_style: str | None, name: str) -> bool:
        """Say whether a property that is on or off is on for a run."""
        stated = self.find_run_value(run, paragraph_style, name)
        return stated is not None and stated not in _OFF
