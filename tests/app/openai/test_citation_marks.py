from datetime import UTC, datetime

import orjson

from app.openai.citations import cite_sources, find_citations
from app.reports.storage.reports import StoredReport

SOURCE = {"url": "https://example.org/1", "title": "Message"}


def test_a_number_within_code_is_no_citation() -> None:
    text = "Duties burden the farmer [1]. Take `argv[1]`.\n\n```\nargv[1]\n```"
    assert [text[cited.start_index - 7 : cited.end_index] for cited in cite_sources(text, {1: SOURCE})] == ["farmer [1]"]


def test_a_paragraph_that_begins_with_a_bold_number_hides_no_citation_behind_it() -> None:
    body = "# Duties\n\n## Part\n\nLow [2].\n\n**[1]** Duties rose. The farmer paid [2]."
    markdown = f"{body}\n\n## Sources\n\n**[1]** *Message*.\n\n> It rose.\n\n**[2]** *Message*.\n\n> He paid.\n"
    evidence = orjson.dumps({"citations": [{"n": n, "source": SOURCE} for n in (1, 2)]}).decode()
    found = find_citations(StoredReport("{}", markdown, "", evidence, datetime(2026, 1, 1, tzinfo=UTC)))
    assert [markdown[cited.start_index : cited.end_index] for cited in found] == ["[2]", "[1]", "[2]"]
    assert all(cited.end_index <= len(body) for cited in found)
