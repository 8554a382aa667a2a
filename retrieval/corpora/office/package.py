"""The parts of an Office file, found by their relationships. The Strict form is read as the usual one."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any, NamedTuple

from lxml import etree

from retrieval.corpora.extract import Extract
from retrieval.corpora.invented import drop_invented_author, drop_invented_title
from retrieval.corpora.zip_package import open_package, refuse_entities, resolve_link
from retrieval.language.dates import read_date

_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)")
_LIBRARIES = frozenset(
    ["python-docx", "steve canny", "python-pptx", "openpyxl", "xlsxwriter", "apache poi", "unknown creator", "un-named"]
)
_LIBRARY_DAYS = ("2013-12-23", "2013-01-27")
"""The days that the templates of python-docx and python-pptx state."""


class Relation(NamedTuple):
    """A link from one part to another: the last word of its type, and the other part's name."""

    kind: str
    target: str


class OfficePackage:
    """The parts of an open package. `notes` says what of it could not be read."""

    def __init__(self, package: zipfile.ZipFile) -> None:
        self._package = package
        self._names = {name.lower().lstrip("/"): name for name in package.namelist()}
        self.notes: list[str] = []

    def find_main(self) -> str:
        """Return the name of the main part. Raises `LookupError` where the package has none."""
        return next(found.target for found in self.list_relations("").values() if found.kind == "officeDocument" and found.target)

    def parse(self, part: str) -> Any:
        """Return the root of a part, None where it is missing. Of a damaged part, what can be read is; a note says so."""
        name = self._names.get(part.lower())
        if name is None:
            return None
        xml = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006", self._package.read(name))
        try:
            return etree.fromstring(xml, _make_parser(recover=False))
        except etree.XMLSyntaxError:
            root = etree.fromstring(xml, _make_parser(recover=True))
            if root is None:
                raise
            self._note_damage(part)
            return root

    def _note_damage(self, part: str) -> None:
        self.notes.append(f"{part} is damaged: some of its text may be missing")

    def iterate(self, part: str, *names: str) -> Iterator[Any]:
        """Yield the elements with these names in a long part, each only until the next. Where it is damaged, a note says so."""
        name = self._names.get(part.lower())
        if name is None:
            return
        tags = [f"{{*}}{tag}" for tag in names]
        with self._package.open(name) as stream:
            try:
                for _, element in etree.iterparse(stream, tag=tags, resolve_entities=False, no_network=True, huge_tree=True):
                    yield element
                    element.clear()
                    while element.getprevious() is not None:
                        del element.getparent()[0]
            except etree.XMLSyntaxError:
                self._note_damage(part)

    def list_relations(self, part: str) -> dict[str, Relation]:
        """Return the links of a part ("": of the package) to others in the package, by their ids."""
        folder, name = posixpath.split(part)
        links = self.parse(posixpath.join(folder, "_rels", f"{name}.rels"))
        found = {} if links is None else {link.get("Id", ""): link for link in links.iter("{*}Relationship")}
        return {
            key: Relation(link.get("Type", "").rpartition("/")[2], resolve_link(folder, link.get("Target", "")))
            for key, link in found.items()
            if link.get("TargetMode") != "External"
        }

    def find_parts(self, part: str, kind: str) -> list[str]:
        """Return the names of the parts that `part` links to as this kind."""
        return [link.target for link in self.list_relations(part).values() if link.kind == kind]

    def parse_related(self, part: str, kind: str) -> Any:
        """Return the root of the part that `part` links to as this kind, None where there is none."""
        found = self.find_parts(part, kind)
        return self.parse(found[0]) if found else None

    def make_extract(self, text: str) -> Extract:
        """Return a text with the package's own metadata and the notes."""
        about = self.parse_related("", "core-properties")
        title, author, modified, created = (_read_property(about, name) for name in ("title", "creator", "modified", "created"))
        title, author = drop_invented_title(title), "" if author.casefold() in _LIBRARIES else drop_invented_author(author)
        note = "; ".join(dict.fromkeys(self.notes))
        return Extract(text, title=title, author=author, changed=_day_of(modified) or _day_of(created), note=note).read_marks()


@contextmanager
def open_office_package(content: bytes, what: str) -> Iterator[OfficePackage]:
    """Check and open an Office file. Raises `SourceUnreadable` where it is damaged, encrypted or an attack."""
    with open_package(content, what, (StopIteration,)) as package:
        refuse_entities(package)
        yield OfficePackage(package)


def _make_parser(recover: bool) -> etree.XMLParser:
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, recover=recover)


def _read_property(about: Any, name: str) -> str:
    return " ".join((about.findtext(f"{{*}}{name}") or "").split()) if about is not None else ""


def _day_of(stated: str) -> date | None:
    return None if stated.startswith(_LIBRARY_DAYS) else read_date(stated[:10])
