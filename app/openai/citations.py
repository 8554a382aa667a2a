"""Find each citation's place in the text of the report."""

import re
from collections.abc import Mapping

import orjson
from pydantic import BaseModel, Field

from app.domain.code import find_code
from app.reports.storage.reports import StoredReport

MARK = re.compile(r"\[(\d{1,4})\]")
# The last section is the list of sources, where numbers are no citations.
SECTION = "\n## "


class UrlCitation(BaseModel):
    """A citation: characters `start_index` to `end_index` (not included) of the text are its mark, such as `[3]`."""

    type: str = Field(default="url_citation", pattern="^url_citation$")
    start_index: int
    end_index: int
    url: str
    title: str


def find_citations(report: StoredReport) -> list[UrlCitation]:
    """Return every mark of the report's Markdown, in order, with its source."""
    sources = {cited["n"]: cited["source"] for cited in orjson.loads(report.evidence)["citations"]}
    body, _, _ = report.markdown.rpartition(SECTION)
    return cite_sources(body, sources)


def cite_sources(text: str, sources: Mapping[int, Mapping[str, str]]) -> list[UrlCitation]:
    """Return every mark of the text that has a source, in order. Within code there is none."""
    code = find_code(text)
    marks = [mark for mark in MARK.finditer(text) if int(mark.group(1)) in sources and not code.holds(mark.start())]
    return [_citation_of(mark, sources[int(mark.group(1))]) for mark in marks]


def _citation_of(mark: re.Match[str], source: Mapping[str, str]) -> UrlCitation:
    return UrlCitation(start_index=mark.start(), end_index=mark.end(), url=source["url"], title=source["title"])
