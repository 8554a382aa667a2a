"""ZIP packages of XML (Office, EPUB). A package is opened only when its content is harmless."""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from lxml import etree

from app.domain.errors import SourceUnreadable

MAX_UNPACKED = 256 << 20
MAX_RATIO = 100
"""XML shrinks to a twentieth; content that grows a hundredfold is an attack on memory."""
MAX_MEMBERS = 20_000
_RATIO_FROM = 1 << 20
_PROLOGUE = 1 << 16
_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DAMAGE = (zipfile.BadZipFile, zlib.error, etree.LxmlError, SyntaxError, OSError, EOFError)
_PARSER_ERRORS = (ValueError, LookupError, TypeError, AttributeError, NotImplementedError, RecursionError, AssertionError)


@contextmanager
def open_package(content: bytes, what: str, errors: tuple[type[Exception], ...] = ()) -> Iterator[zipfile.ZipFile]:
    """Check and open the package in `content`. Errors of parsers inside the block, and `errors`, mean a damaged file.

    Raises:
        SourceUnreadable: it is encrypted, damaged, no package, or would unpack to far more than a document has.
    """
    if content.startswith(_OLE2):
        raise SourceUnreadable(f"is encrypted, or in the format from before 2007: save it as {what} without a password")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            _check_package(package, len(content))
            _mend_names(package)
            yield package
    except (*_DAMAGE, *_PARSER_ERRORS, *errors) as error:
        raise SourceUnreadable(f"is damaged or not {what} ({type(error).__name__}: {str(error)[:200]})") from error


def resolve_link(folder: str, link: str) -> str:
    """Return the name of the member that a part in this folder links to."""
    return posixpath.normpath(posixpath.join(folder, link.replace("\\", "/"))).lstrip("/")


def parse_xml(xml: bytes) -> etree._Element:
    """Parse a small XML part of a package. Entities are not resolved and nothing is fetched."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    return etree.fromstring(xml, parser)


def refuse_entities(package: zipfile.ZipFile) -> None:
    """Refuse a package that declares a document type: Office files never do, and attacks use it to expand or fetch."""
    for member in package.infolist():
        if member.filename.lower().endswith((".xml", ".rels")):
            with package.open(member) as part:
                start = part.read(_PROLOGUE).replace(b"\x00", b"")
            if b"<!DOCTYPE" in start or b"<!ENTITY" in start:
                raise SourceUnreadable(f"declares entities in {member.filename}, which an Office file never does")


def _mend_names(package: zipfile.ZipFile) -> None:
    """Find members also by names with slashes: some programs write backslashes."""
    for member in package.infolist():
        member.filename = member.filename.replace("\\", "/")
        package.NameToInfo.setdefault(member.filename, member)


def _check_package(package: zipfile.ZipFile, packed: int) -> None:
    """Refuse an encrypted package and one that is too large. The stated sizes bind: reading a member ends at its size."""
    members = package.infolist()
    unpacked = sum(member.file_size for member in members)
    if any(member.flag_bits & 1 for member in members):
        raise SourceUnreadable("is encrypted: a password is needed")
    if len(members) > MAX_MEMBERS:
        raise SourceUnreadable(f"has {len(members):,} parts, at most {MAX_MEMBERS:,} are read")
    if unpacked > MAX_UNPACKED or (unpacked > _RATIO_FROM and unpacked > MAX_RATIO * packed):
        raise SourceUnreadable(f"would unpack from {packed >> 10:,} KiB to {unpacked >> 20:,} MiB: it is not read")
