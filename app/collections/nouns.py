"""An organisation's own documents: collections, access to them, and the state of each document."""

import re
import unicodedata
from datetime import datetime
from enum import StrEnum
from pathlib import PurePosixPath
from urllib.parse import quote
from uuid import UUID

from pydantic import Field

from app.accounts.nouns.access import Principal, Role
from app.domain.errors import InvalidInput
from app.domain.value import Value

DOCUMENT_SUFFIXES = frozenset({".pdf", ".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm", ".epub", ".eml"})
TEXT_SUFFIXES = frozenset({".md", ".markdown", ".txt", ".text", ".rst", ".html", ".htm", ".xhtml", ".csv", ".tsv"})
SUFFIXES = DOCUMENT_SUFFIXES | TEXT_SUFFIXES
KINDS = "PDF, Word, PowerPoint, Excel, EPUB, e-mail (.eml), Markdown, text, HTML, CSV and TSV"
MAX_FILE_BYTES = 64 << 20
MAX_FILES_AT_ONCE = 50
MAX_UPLOAD_BYTES = 512 << 20
MAX_DOCUMENTS = 2_000
MAX_COLLECTIONS = 200
MAX_ORGANISATION_BYTES = 20 << 30
MAX_NAME_CHARS = 150
_INDEX_NAME = re.compile(r"own-[0-9a-f]{32}", re.IGNORECASE)


class DocumentState(StrEnum):
    """The state of a document. A `failed` one says why; a `deleting` one is still being removed from index and runs."""

    RECEIVED = "received"
    PARSED = "parsed"
    INDEXED = "indexed"
    FAILED = "failed"
    DELETING = "deleting"


class Access(Value):
    """The people who may search a collection and see its documents: the whole organisation, or these people and roles.

    Its maker, owners and admins always may.
    """

    everyone: bool = True
    users: tuple[UUID, ...] = Field(default=(), max_length=200)
    roles: tuple[Role, ...] = Field(default=(), max_length=len(Role))


class Collection(Value):
    """A collection of an organisation's own documents. Runs name it by its `name`."""

    id: UUID
    name: str
    access: Access = Access()
    documents: int = 0
    bytes: int = 0
    created_by: UUID | None = None
    created_at: datetime

    def is_managed_by(self, principal: Principal) -> bool:
        """Return True when this person may set who may use the collection."""
        return principal.role in (Role.OWNER, Role.ADMIN) or self.created_by == principal.user_id


class OwnDocument(Value):
    """A document that was sent. `snapshot` names its text as citations do; `detail` says why it failed, or what is missing."""

    id: UUID
    collection_id: UUID
    name: str
    bytes: int
    state: DocumentState
    detail: str = ""
    characters: int = 0
    snapshot: str = ""
    received_at: datetime


def index_name_of(collection: UUID) -> str:
    """Return the index's name of a collection: names are unique in one organisation only, ids everywhere."""
    return f"own-{collection.hex}"


def is_index_name(name: str) -> bool:
    """Return True when this is the index's name of a collection, which no person may give."""
    return _INDEX_NAME.fullmatch(name) is not None


def check_collection_name(given: str) -> str:
    """Return a collection's name as stored: NFC, one line.

    Raises:
        InvalidInput: nothing is left, it is too long, or is one that only the index uses.
    """
    name = plain_name_of(given)
    if not name or len(name) > MAX_NAME_CHARS or is_index_name(name):
        raise InvalidInput(f"name the collection with 1 to {MAX_NAME_CHARS} characters that can be read")
    return name


def check_file_name(given: str) -> str:
    """Return a file's name as shown and cited: its last part, NFC, without control and direction characters.

    Raises:
        InvalidInput: nothing is left, or its ending is of a kind that is not read.
    """
    name = plain_name_of(given.replace("\\", "/").rpartition("/")[2])
    stem, suffix = PurePosixPath(name).stem, suffix_of(name)
    if suffix not in SUFFIXES or not stem.strip("."):
        raise InvalidInput(f"{name[:80]!r} is of a kind that is not read; {KINDS} are")
    return stem[: MAX_NAME_CHARS - len(suffix)] + name[len(name) - len(suffix) :]


def suffix_of(name: str) -> str:
    """Return the ending of a file's name, in lower case."""
    return PurePosixPath(name).suffix.lower()


def address_of(collection: str, name: str) -> str:
    """Return the address by which a document is cited. It does not tell where the file is, and a newer document keeps it."""
    return f"file:///{quote(collection, safe='')}/{quote(name, safe='')}"


def plain_name_of(text: str) -> str:
    """Return a name in the form in which it is stored: NFC, single blanks, without control and direction characters."""
    printable = (c for c in unicodedata.normalize("NFC", text) if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    return " ".join("".join(printable).split())
