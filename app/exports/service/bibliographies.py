"""Write the cited sources as CSL-JSON, BibTeX and RIS."""

import re
from collections.abc import Iterator, Sequence

import orjson

from app.exports.service.references import CslItem, DateParts

RIS_TYPES = {"article-journal": "JOUR", "article": "UNPB", "webpage": "ELEC", "speech": "GEN", "document": "GEN"}
BIBTEX_TYPES = {"article-journal": "article"}
# LaTeX's special characters are escaped; letters of any script stay, since today's BibTeX programs read UTF-8.
LATEX_ESCAPES = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "`": r"\textasciigrave{}"}
    | {character: f"\\{character}" for character in "{}$&#%_"}
)

# Two of these in a row are another character to TeX.
LIGATURE = re.compile("-(?=-)|'(?=')")
DOI = re.compile(r"10\.\d{4,9}/[^\s{}\\]+")


def to_csl(items: Sequence[CslItem]) -> bytes:
    """Return a list of CSL items."""
    return orjson.dumps([item.model_dump(by_alias=True, exclude_none=True) for item in items], option=orjson.OPT_INDENT_2)


def to_bibtex(items: Sequence[CslItem]) -> bytes:
    """Return BibTeX in which titles keep their capitals."""
    from bibtexparser import writer
    from bibtexparser.library import Library
    from bibtexparser.middlewares import AddEnclosingMiddleware
    from bibtexparser.model import Entry, Field

    library = Library(
        [
            Entry(
                BIBTEX_TYPES.get(item.type, "misc"),
                item.id,
                [Field(name, value) for name, value in _bibtex_fields_of(item).items()],
            )
            for item in items
        ]
    )
    braces = AddEnclosingMiddleware(reuse_previous_enclosing=False, enclose_integers=True, default_enclosing="{")
    written: str = writer.write(braces.transform(library))
    return written.encode()


def to_ris(items: Sequence[CslItem]) -> bytes:
    """Return RIS: one record for each source, of lines that each begin with a tag."""
    return "\n".join("".join(f"{tag}  - {value}\n" for tag, value in _list_ris_lines(item)) for item in items).encode()


def _bibtex_fields_of(item: CslItem) -> dict[str, str]:
    """Return the fields, escaped for LaTeX; addresses and DOIs are read verbatim, and cannot hold a brace."""
    names = "".join(f"{{{_escape_latex(name.literal)}}}" for name in item.author or ())
    fields = {
        "title": f"{{{_escape_latex(item.title)}}}",
        "author": names,
        "journal": _escape_latex(item.container_title or ""),
        "year": str(item.issued.parts[0][0]) if item.issued else "",
        "month": str(item.issued.parts[0][1]) if item.issued else "",
        "doi": item.doi if item.doi and DOI.fullmatch(item.doi) else "",
        "url": item.url or "",
        "urldate": _write_day(item.accessed, "-"),
        "note": _escape_latex(item.note),
    }
    return {name: value for name, value in fields.items() if value}


def _list_ris_lines(item: CslItem) -> Iterator[tuple[str, str]]:
    """Yield the tags and values of a record: its type first, its end last."""
    yield "TY", RIS_TYPES[item.type]
    fields = (
        ("ID", item.id),
        ("TI", item.title),
        *(("AU", name.literal) for name in item.author or ()),
        ("PY", str(item.issued.parts[0][0]) if item.issued else ""),
        ("DA", _write_day(item.issued, "/")),
        ("Y2", _write_day(item.accessed, "/")),
        ("JO", item.container_title or ""),
        ("DO", item.doi or ""),
        ("UR", item.url or ""),
        ("N1", item.note),
    )
    yield from ((tag, value) for tag, value in fields if value)
    yield "ER", ""


def _escape_latex(text: str) -> str:
    return LIGATURE.sub(lambda match: match.group(0) + "{}", text.translate(LATEX_ESCAPES))


def _write_day(day: DateParts | None, separator: str) -> str:
    return separator.join(f"{part:02d}" for part in day.parts[0]) if day else ""
