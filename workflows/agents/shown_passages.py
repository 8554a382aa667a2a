"""Passages as a prompt of the report agent shows them: under their documents, each with the id by which it is cited.

What is read of a prompt and formatted again gives the same bytes: a row of report data is trained on what was served.
"""

import re
from collections.abc import Iterable
from itertools import groupby

from app.domain.evidence import Passage
from app.domain.value import Value
from workflows.agents.untrusted import as_attribute, as_source

URL_CHARS = 600
_DOCUMENT = re.compile(
    r'<document title="([^"]*)"(?: author="([^"]*)")?(?: date="([^"]*)")? url="([^"]*)">\n(.*?)\n</document>', re.DOTALL
)
_PASSAGE = re.compile(r'<passage id="(q\d+)">\n(.*?)\n</passage>', re.DOTALL)


class ShownPassage(Value):
    """A passage as its reader sees it: nothing in it can pass for a delimiter. `published` is an ISO date or empty."""

    id: str
    url: str
    title: str
    text: str
    author: str = ""
    published: str = ""

    @property
    def head(self) -> str:
        """The opening tag of its document."""
        author = f' author="{self.author}"' if self.author else ""
        date = f' date="{self.published}"' if self.published else ""
        return f'<document title="{self.title}"{author}{date} url="{self.url}">'


def show_passage(short: str, passage: Passage, chars: int) -> ShownPassage:
    """Return a passage as it is shown, at most `chars` characters of it."""
    source = passage.source
    return ShownPassage(
        id=short,
        url=as_attribute(source.url, URL_CHARS),
        title=as_attribute(source.title),
        author=as_attribute(source.author),
        published=source.published.isoformat() if source.published else "",
        text=as_source(passage.text[:chars]).strip(),
    )


def format_documents(passages: Iterable[ShownPassage]) -> str:
    """Return the passages under their documents; those of one document stand next to each other already."""
    return "\n".join(
        "\n".join([head, *(f'<passage id="{shown.id}">\n{shown.text}\n</passage>' for shown in own), "</document>"])
        for head, own in groupby(passages, key=lambda shown: shown.head)
    )


def read_documents(message: str) -> list[ShownPassage]:
    """Return the passages of a message that has documents."""
    return [
        ShownPassage(id=id_, url=url, title=title, author=author, published=date, text=text)
        for title, author, date, url, own in _DOCUMENT.findall(message)
        for id_, text in _PASSAGE.findall(own)
    ]
