import re
from datetime import UTC, date, datetime
from uuid import UUID

import pytest

from app.domain.budget import Usage
from app.domain.citations import marker
from app.domain.evidence import Conflict, Quote, Source, snapshot_hash
from app.domain.query import Language, ResearchQuery
from app.domain.report import Report, Section
from app.domain.run import Run, RunStatus
from app.services.rendering import Rendered, render
from app.storage.reports import Surroundings

TEXT = "We know this. Duties protect labor. They burden [12] the farmer <b>too</b>. That is all."
SOURCE = Source(
    url="https://example.org/1",
    title="A *plain* message",
    snapshot=snapshot_hash(TEXT),
    author="Andrew Jackson",
    published=date(1832, 12, 4),
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def quote(text: str, source: Source = SOURCE) -> Quote:
    start = TEXT.index(text)
    return Quote(source=source, text=text, start=start, end=start + len(text))


LABOR, FARMER = quote("Duties protect labor."), quote("They burden [12] the farmer <b>too</b>.")


def rendered(
    *bodies: str, language: Language = Language.ENGLISH, quotes: tuple[Quote, ...] = (LABOR, FARMER), **more: object
) -> Rendered:
    sections = tuple(Section(heading=f"Part {n}", body=body) for n, body in enumerate(bodies, start=1))
    report = Report(title="Duties", sections=sections, quotes=quotes, **more)  # type: ignore[arg-type]
    query = ResearchQuery(question="Why duties?", language=language)
    run = Run(id=UUID(int=1), query=query, status=RunStatus.RUNNING, usage=Usage(model_calls=3), created_at=NOW, updated_at=NOW)
    return render(report, run, {LABOR.key: Surroundings("We know this. ", " They burden")})


def test_numbers_run_through_all_sections() -> None:
    result = rendered(f"One {marker(FARMER)}.", f"Two {marker(LABOR)}, again {marker(FARMER)}.")
    assert "One [1]." in result.renderings.markdown
    assert "Two [2], again [1]." in result.renderings.markdown
    assert [c["n"] for c in result.evidence["citations"]] == [1, 2]


def test_every_citation_of_the_evidence_is_exact() -> None:
    evidence = rendered(f"One {marker(FARMER)} two {marker(LABOR)}").evidence
    assert evidence["run_id"] == str(UUID(int=1))
    assert evidence["usage"]["model_calls"] == 3
    for citation in evidence["citations"]:
        assert TEXT[citation["start"] : citation["end"]] == citation["quote"]
        assert citation["source"]["snapshot"] == snapshot_hash(TEXT)


def test_a_fabricated_citation_reaches_neither_reader_nor_evidence_and_is_counted() -> None:
    result = rendered(f"True {marker(LABOR)}. False [[feedfeedfeedfeed]].")
    assert "feed" not in result.renderings.markdown + result.renderings.html
    assert result.told["unresolved_citations"] == 1
    assert len(result.evidence["citations"]) == 1


def test_a_number_in_a_source_does_not_pass_for_a_citation() -> None:
    result = rendered(f"They burden [12] the farmer {marker(FARMER)} [2].")
    assert "They burden (12) the farmer [1] (2)." in result.renderings.markdown


HOSTILE = [
    "see [here](https://evil.example/?q=secret)",
    "![x](https://evil.example/pixel.png)",
    "![x][r]\n\n[r]: https://evil.example/pixel.png",
    "[text][r]\n\n[r]: https://evil.example",
    "<https://evil.example>",
    "https://evil.example/bare and www.evil.example",
    "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "[x](javascript:alert(1))",
    f"{marker(LABOR)}(https://evil.example)",
    "[a [b] c](https://evil.example)",
    "[two\nlines](https://evil.example)",
    "[x](<https://evil.example>)",
    "[x]( https://evil.example 'title')",
]


@pytest.mark.parametrize("body", HOSTILE)
def test_no_link_leads_anywhere_but_to_a_cited_source(body: str) -> None:
    page = rendered(f"{body}\n\nTrue {marker(LABOR)}.").renderings.html
    assert set(re.findall(r'(?:href|src)="([^"#][^"]*)"', page)) <= {"https://example.org/1"}
    assert "<img" not in page
    assert "<script" not in page


def test_a_link_to_a_cited_source_stays() -> None:
    page = rendered(f"see [the message](https://example.org/1) {marker(LABOR)}").renderings.html
    assert '<a href="https://example.org/1"' in page.split('id="sources"')[0]


def test_a_source_with_a_hostile_address_or_title_is_text() -> None:
    source = SOURCE.model_copy(update={"url": "javascript:alert(1)", "title": "<script>alert(1)</script>"})
    bad = quote("Duties protect labor.", source)
    page = rendered(f"True {marker(bad)}.", quotes=(bad,)).renderings.html
    assert "javascript:" not in page
    assert "<script>" not in page


def test_the_page_shows_each_quote_where_it_stands_and_leads_there_and_back() -> None:
    page = rendered(f"True {marker(LABOR)}.").renderings.html
    assert "…We know this. </span><mark>Duties protect labor.</mark>" in page
    assert 'id="r1" href="#c1"' in page
    assert 'id="c1"' in page
    assert 'href="#r1"' in page


def test_notices_and_conflicts_are_stated() -> None:
    conflict = Conflict(about="Whether duties help", quote_keys=(LABOR.key, FARMER.key))
    result = rendered(f"A {marker(LABOR)} b {marker(FARMER)}", conflicts=(conflict,), notices=("One search failed.",))
    assert "> **Note.** One search failed." in result.renderings.markdown
    assert "- Whether duties help [1][2]" in result.renderings.markdown


def test_chinese_reports_speak_chinese() -> None:
    result = rendered(f"关税保护劳工 {marker(LABOR)}。", language=Language.CHINESE)
    assert "## 来源" in result.renderings.markdown
    assert '<html lang="zh">' in result.renderings.html
    assert "关税保护劳工 [1]。" in result.renderings.markdown or "关税保护劳工[1]。" in result.renderings.markdown
    assert result.told["words"] == 7


def test_a_report_without_sections_is_still_a_page() -> None:
    assert "Duties" in rendered(notices=("Nothing was found.",)).renderings.html


def test_a_source_is_not_named_twice() -> None:
    told = SOURCE.model_copy(update={"title": "Message, Andrew Jackson, December 4, 1832"})
    said = quote("Duties protect labor.", told)
    assert rendered(f"True {marker(said)}.", quotes=(said,)).renderings.markdown.count("Andrew Jackson") == 1
    assert "*, Andrew Jackson, 4 December 1832." in rendered(f"True {marker(LABOR)}.").renderings.markdown
