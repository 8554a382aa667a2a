"""Request and response bodies of collections of own documents."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.collections.nouns import MAX_NAME_CHARS, Access, Collection, OwnDocument
from app.http.plain_text import PLAIN

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME_CHARS), PLAIN]


class NewCollection(BaseModel):
    """A collection to make. Without `access` the whole organisation may use it."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    access: Access = Access()


class CollectionPage(BaseModel):
    """One page of collections, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[Collection]
    next: UUID | None = None


class DocumentPage(BaseModel):
    """One page of documents, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[OwnDocument]
    next: UUID | None = None


class RefusedFile(BaseModel):
    """A file that was not accepted, and why."""

    name: str
    reason: str


class ReceivedFiles(BaseModel):
    """The documents that were accepted, and the files that were not."""

    items: list[OwnDocument]
    refused: list[RefusedFile] = Field(default=[])
