"""Charts and diagrams of Office files: a chart is a table of its categories and series, a diagram the texts of its boxes."""

from collections.abc import Iterator, Mapping
from typing import Any

from retrieval.corpora.office.number_format import write_value
from retrieval.corpora.office.package import OfficePackage, Relation
from retrieval.corpora.table import join_cells

_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_CHARTS, _DIAGRAMS = ("chart", "chartEx"), ("diagramData",)
_OBJECTS = ("oleObject", "package")


def list_drawings(package: OfficePackage, links: Mapping[str, Relation], element: Any) -> Iterator[str]:
    """Yield the text of the charts and diagrams below an element, by the links of its part. A note names embedded objects."""
    named = [value for part in element.iter() for key, value in part.attrib.items() if key.startswith(_R)]
    for link in (links[name] for name in dict.fromkeys(named) if name in links):
        if link.kind in _OBJECTS:
            package.notes.append("an embedded object was not read")
        root = package.parse(link.target) if link.kind in (*_CHARTS, *_DIAGRAMS) else None
        if root is not None:
            yield from read_chart(root) if link.kind in _CHARTS else read_paragraphs(root)
            if link.kind in _CHARTS and not _has_values(root):
                package.notes.append("the values of a chart were not saved with it, and not read")


def read_paragraphs(root: Any) -> Iterator[str]:
    """Yield the paragraphs of drawn text."""
    for paragraph in root.iter("{*}p"):
        text = "".join(part.text or "" for part in paragraph.iter("{*}t")).strip()
        if text:
            yield text


def read_chart(root: Any) -> Iterator[str]:
    """Yield a chart's titles, then a row for each category with the value of each series, as they were saved with the chart."""
    yield from (" ".join(read_paragraphs(title)) for title in root.iter("{*}title"))
    columns = [(_read_name(series), _read_points(series)) for series in root.iter("{*}ser")]
    if not columns:
        yield from _read_new_chart(root)
        return
    if any(name for name, _ in columns):
        yield join_cells(["", *(name for name, _ in columns)])
    for place in sorted({place for _, points in columns for place in points}):
        category = next((points[place][0] for _, points in columns if place in points and points[place][0]), "")
        yield join_cells([category, *(points.get(place, ("", ""))[1] for _, points in columns)])


def _has_values(root: Any) -> bool:
    values = (axis for name in ("val", "yVal", "numDim") for axis in root.iter(f"{{*}}{name}"))
    return any(point.text or len(point) for axis in values for point in axis.iter("{*}pt"))


def _read_name(series: Any) -> str:
    name = series.find("{*}tx")
    return " ".join(value.text or "" for value in name.iter("{*}v")) if name is not None else ""


def _read_points(series: Any) -> dict[int, tuple[str, str]]:
    """Return category and value of each point by its place; a bubble's size stands beside its value."""
    categories = {**_read_cache(series.find("{*}cat")), **_read_cache(series.find("{*}xVal"))}
    values = {**_read_cache(series.find("{*}val")), **_read_cache(series.find("{*}yVal"))}
    sizes = _read_cache(series.find("{*}bubbleSize"))
    return {
        place: (categories.get(place, ""), " ".join(filter(None, (values[place], sizes.get(place, "")))))
        for place in sorted(values)
    }


def _read_cache(axis: Any) -> dict[int, str]:
    """Return the saved values of an axis by their places. A category on several levels has its groups before it."""
    if axis is None:
        return {}
    outer, inner = [], axis
    if levels := list(axis.iter("{*}lvl")):
        inner, *outer = levels
    found = _read_points_of(inner, axis.find("{*}numRef") is not None or axis.find("{*}numLit") is not None)
    for level in outer:
        groups = sorted(_read_points_of(level, False).items())
        for place in found:
            group = next((text for first, text in reversed(groups) if first <= place), "")
            found[place] = f"{group} {found[place]}".strip()
    return found


def _read_points_of(level: Any, numbers: bool) -> dict[int, str]:
    shape = level.findtext(".//{*}formatCode") or "General"
    values = {int(p.get("idx", 0)): (p.findtext("{*}v") or "", p.get("formatCode", shape)) for p in level.iter("{*}pt")}
    return {place: write_value(*value) if numbers else value[0] for place, value in values.items()}


def _read_new_chart(root: Any) -> Iterator[str]:
    """Yield the rows of a chart of the kinds since 2016 (waterfall, funnel, tree map)."""
    for data in root.iter("{*}data"):
        columns = [[point.text or "" for point in dimension.iter("{*}pt")] for dimension in data if len(dimension)]
        yield from (join_cells(row) for row in zip(*columns, strict=False))
