import html
import re
from datetime import UTC, date, datetime
from uuid import UUID

import pytest
from markdown_it import MarkdownIt

from app.domain.budget import Usage
from app.domain.citations import marker_of
from app.domain.claims import Claim, Support
from app.domain.evidence import Quote, Source, SourceConflict, snapshot_hash
from app.domain.query import Language, ResearchQuery
from app.domain.report import Report, Section
from app.domain.run import Run, RunStatus
from app.reports.rendering import RenderedReport, render
from app.reports.storage.reports import Surroundings

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
) -> RenderedReport:
    sections = tuple(Section(heading=f"Part {n}", body=body) for n, body in enumerate(bodies, start=1))
    report = Report(title="Duties", sections=sections, quotes=quotes, **more)  # type: ignore[arg-type]
    query = ResearchQuery(question="Why duties?", language=language)
    run = Run(id=UUID(int=1), query=query, status=RunStatus.RUNNING, usage=Usage(model_calls=3), created_at=NOW, updated_at=NOW)
    return render(report, run, {LABOR.key: Surroundings("We know this. ", " They burden")})


def test_numbers_run_through_all_sections() -> None:
    result = rendered(f"One {marker_of(FARMER)}.", f"Two {marker_of(LABOR)}, again {marker_of(FARMER)}.")
    assert "One [1]." in result.renderings.markdown
    assert "Two [2], again [1]." in result.renderings.markdown
    assert [c["n"] for c in result.evidence["citations"]] == [1, 2]


def test_every_citation_of_the_evidence_is_exact() -> None:
    evidence = rendered(f"One {marker_of(FARMER)} two {marker_of(LABOR)}").evidence
    assert evidence["run_id"] == str(UUID(int=1))
    assert evidence["usage"]["model_calls"] == 3
    for citation in evidence["citations"]:
        assert TEXT[citation["start"] : citation["end"]] == citation["quote"]
        assert citation["source"]["snapshot"] == snapshot_hash(TEXT)


def test_a_fabricated_citation_reaches_neither_reader_nor_evidence_and_is_counted() -> None:
    result = rendered(f"True {marker_of(LABOR)}. False [[feedfeedfeedfeed]].")
    assert "feed" not in result.renderings.markdown + result.renderings.html
    assert result.told["unresolved_citations"] == 1
    assert len(result.evidence["citations"]) == 1


def test_a_number_in_a_source_does_not_pass_for_a_citation() -> None:
    result = rendered(f"They burden [12] the farmer {marker_of(FARMER)} [2].")
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
    f"{marker_of(LABOR)}(https://evil.example)",
    "[a [b] c](https://evil.example)",
    "[two\nlines](https://evil.example)",
    "[x](<https://evil.example>)",
    "[x]( https://evil.example 'title')",
]


@pytest.mark.parametrize("body", HOSTILE)
def test_no_link_leads_anywhere_but_to_a_cited_source(body: str) -> None:
    page = rendered(f"{body}\n\nTrue {marker_of(LABOR)}.").renderings.html
    assert set(re.findall(r'(?:href|src)="([^"#][^"]*)"', page)) <= {"https://example.org/1"}
    assert "<img" not in page
    assert "<script" not in page


CODE = (
    "find . -name x",
    "docker build . -t x",
    "[ ! -f x ] && sys.argv[1] . m[i][j](x)",
    "if [[ -f a ]]; then",
    "git clone https://a.example/x .",
    "<div>",
    "ps | grep .",
)


@pytest.mark.parametrize("code", CODE)
def test_code_is_shown_as_it_is(code: str) -> None:
    result = rendered(f"- `{code}` {marker_of(LABOR)}\n- ``{code} ` `` x\n\n```bash\n{code}\n{code} .\n```\n\nEnd .")
    assert f"- `{code}` [1]\n- ``{code} ` `` x\n\n```bash\n{code}\n{code} .\n```\n\nEnd ." in result.renderings.markdown
    assert result.renderings.html.count(html.escape(code, quote=False)) == 4
    assert result.renderings.html.count('class="cite"') == 1
    assert result.told["unresolved_citations"] == 0


FALSE_CODE = [
    "\\`{}\\`",
    "a ` b\nc ` {} ` d",
    "a\n    ~~~\n{}\n    ~~~",
    "- ```\n  x\n  ```\n{}\n```\nx\n```",
    "- ```\n  ```\n{}\n  ```",
    'see [a](https://example.org/1 "`") {} `")',
    "| a ` | {} ` |\n|---|---|",
]


@pytest.mark.parametrize("false_code", FALSE_CODE)
@pytest.mark.parametrize(
    "hostile", ["![x](//evil.example)", "<img src=//evil.example>", "[x](//evil.example)", "x\n[x](//e.vil)"]
)
def test_what_only_looks_like_code_hides_no_link(false_code: str, hostile: str) -> None:
    told = rendered(f"{false_code.format(hostile)}\n\nTrue {marker_of(LABOR)}.").renderings.markdown
    parsed = MarkdownIt("commonmark").enable("table").render(told)
    assert set(re.findall(r'<(?:a|img) (?:href|src)="?([^"> ]*)', parsed)) <= {"https://example.org/1"}


def test_a_link_to_a_cited_source_stays() -> None:
    page = rendered(f"see [the message of 1832](https://example.org/1) {marker_of(LABOR)}").renderings.html
    assert '<a href="https://example.org/1"' in page.split('id="sources"')[0]


SOURCES_OF_A_READER = [
    ("{}: https://evil.example", "[1]: https://evil.example"),
    ("{} : Beta", "[1]: Beta"),
    ("- {}: <https://evil.example>\n- {}: Beta", "[1]: Beta"),
    ("> 1. {}:\n>    //evil.example", "//evil.example"),
    ("[[feedfeedfeedfeed]]{}: //evil.example", "[1]: //evil.example"),
    ("True {}[1].", "True [1] (1)."),
]


@pytest.mark.parametrize(("line", "shown"), SOURCES_OF_A_READER)
def test_a_number_that_a_reader_explains_still_leads_to_its_quotation(line: str, shown: str) -> None:
    result = rendered(f"True {marker_of(LABOR)}.\n\n{line.replace('{}', marker_of(LABOR))}")
    told = MarkdownIt("commonmark").render(result.renderings.markdown.split("## Sources")[0])
    assert shown in told
    assert "<a" not in told
    page = result.renderings.html.split('id="sources"')[0]
    assert page.count('class="cite"') == 1 + line.count("{}")
    assert 'href="http' not in page


def test_a_source_with_a_hostile_address_or_title_is_text() -> None:
    source = SOURCE.model_copy(update={"url": "javascript:alert(1)", "title": "<script>alert(1)</script>"})
    bad = quote("Duties protect labor.", source)
    page = rendered(f"True {marker_of(bad)}.", quotes=(bad,)).renderings.html
    assert "javascript:" not in page
    assert "<script>" not in page


def test_the_page_shows_each_quote_where_it_stands_and_leads_there_and_back() -> None:
    page = rendered(f"True {marker_of(LABOR)}.").renderings.html
    assert "…We know this. </span><mark>Duties protect labor.</mark>" in page
    assert 'id="r1" href="#c1"' in page
    assert 'id="c1"' in page
    assert 'href="#r1"' in page


def test_a_citation_tells_its_page_where_that_is_known() -> None:
    paged = LABOR.model_copy(update={"page": 7})
    told = rendered(f"True {marker_of(LABOR)}.", quotes=(paged,)).renderings
    assert "(page 7, characters" in told.markdown
    assert "page 7, characters" in told.html
    assert "page 7" not in rendered(f"True {marker_of(LABOR)}.").renderings.html
    assert "第 7 页" in rendered(f"真 {marker_of(LABOR)}。", language=Language.CHINESE, quotes=(paged,)).renderings.markdown


def test_each_document_is_listed_once_with_its_quotations_below_under_their_numbers() -> None:
    other = LABOR.model_copy(update={"source": SOURCE.model_copy(update={"url": "https://example.org/2", "title": "Another"})})
    body = f"One {marker_of(LABOR)} two {marker_of(other)} three {marker_of(FARMER)}"
    result = rendered(body, quotes=(LABOR, other, FARMER))
    _, _, listed = result.renderings.markdown.partition("## Sources")
    assert listed.count("plain") == 1
    assert re.findall(r"\[(\d)\]|Another", listed) == ["1", "3", "", "2"]
    page = result.renderings.html.partition('id="sources"')[2]
    assert re.findall(r'id="c(\d)"|Another', page) == ["1", "3", "", "2"]


def test_notices_are_stated_and_disagreements_are_left_to_the_text() -> None:
    conflict = SourceConflict(about="Whether duties help", quote_keys=(LABOR.key, FARMER.key))
    result = rendered(f"A {marker_of(LABOR)} b {marker_of(FARMER)}", conflicts=(conflict,), notices=("One search failed.",))
    assert "> **Note.** One search failed." in result.renderings.markdown
    assert "Whether duties help" not in result.renderings.markdown


def test_chinese_reports_speak_chinese() -> None:
    result = rendered(f"关税保护劳工 {marker_of(LABOR)}。", language=Language.CHINESE)
    assert "## 来源" in result.renderings.markdown
    assert '<html lang="zh">' in result.renderings.html
    assert "关税保护劳工 [1]。" in result.renderings.markdown or "关税保护劳工[1]。" in result.renderings.markdown
    assert result.told["words"] == 7


def test_a_report_without_sections_is_still_a_page() -> None:
    assert "Duties" in rendered(notices=("Nothing was found.",)).renderings.html


def test_a_source_is_not_named_twice() -> None:
    told = SOURCE.model_copy(update={"title": "Message, Andrew Jackson, December 4, 1832"})
    said = quote("Duties protect labor.", told)
    assert rendered(f"True {marker_of(said)}.", quotes=(said,)).renderings.markdown.count("Andrew Jackson") == 1
    assert "*, Andrew Jackson, 4 December 1832." in rendered(f"True {marker_of(LABOR)}.").renderings.markdown
    stopped = quote(
        "Duties protect labor.", SOURCE.model_copy(update={"title": "Duties and labor.", "author": "", "published": None})
    )
    result = rendered(f"True {marker_of(stopped)}.", quotes=(stopped,)).renderings
    assert "*Duties and labor*. <https" in result.markdown
    assert "Duties and labor." not in result.html


def claim(body: str, text: str, support: Support, **more: object) -> Claim:
    start = body.index(text)
    return Claim(text=text, section=0, start=start, end=start + len(text), support=support, **more)  # type: ignore[arg-type]


def test_a_claim_that_fails_is_marked_and_told_and_others_are_left_alone() -> None:
    body = f"Duties help all [3] {marker_of(LABOR)}. They *burden* nobody {marker_of(FARMER)}. Ships sail."
    first, second, third = body.split(". ")
    claims = (
        claim(body, f"{first}.", Support.FULL, quote_keys=(LABOR.key,)),
        claim(body, f"{second}.", Support.CONTRADICTED, quote_keys=(FARMER.key,), reason='They "do" <b>'),
        claim(body, third, Support.UNCITED),
    )
    result = rendered(body, claims=claims)
    assert "Duties help all (3) [1]. They *burden* nobody [2].‡ Ships sail." in result.renderings.markdown
    page = result.renderings.html
    assert page.count('class="claim') == 1
    assert '<span class="claim contradicted"' in page
    assert 'title="They &quot;do&quot; &lt;b&gt;"' in page
    assert [(c["citations"], c["support"]) for c in result.evidence["claims"]] == [
        ([1], "full"),
        ([2], "contradicted"),
        ([], "uncited"),
    ]
    assert result.evidence["claims"][1]["section"] == "Part 1"
    assert result.told["claims"] == {"full": 1, "partial": 0, "none": 0, "contradicted": 1, "unjudged": 0, "uncited": 1}


def test_partly_and_thinly_supported_claims_are_marked_on_the_page_alone() -> None:
    body = f"Duties help {marker_of(LABOR)}. They weigh {marker_of(FARMER)}."
    claims = (
        claim(body, f"Duties help {marker_of(LABOR)}.", Support.PARTIAL, reason="Only part."),
        claim(body, f"They weigh {marker_of(FARMER)}.", Support.FULL, weak="rests on one source, a preprint"),
    )
    result = rendered(body, claims=claims)
    assert "Duties help [1]. They weigh [2]." in result.renderings.markdown
    assert result.renderings.html.count('class="claim partial"') == 1
    assert result.renderings.html.count('class="claim weak"') == 1
    assert result.told["words"] == 6


def test_evidence_says_of_each_claim_whether_anything_cited_gives_it() -> None:
    body = f"Duties of 9% {marker_of(LABOR)}. They weigh {marker_of(FARMER)}."
    claims = (
        claim(body, f"Duties of 9% {marker_of(LABOR)}.", Support.PARTIAL, unsourced=True),
        claim(body, f"They weigh {marker_of(FARMER)}.", Support.PARTIAL),
    )
    result = rendered(body, claims=claims)
    assert [c["unsourced"] for c in result.evidence["claims"]] == [True, False]
    assert "¶" in result.renderings.markdown


def test_a_body_cannot_forge_a_mark() -> None:
    result = rendered(f"Duties \ue0000\ue001 help {marker_of(LABOR)}.")
    assert "\ue000" not in result.renderings.markdown + result.renderings.html
    assert 'class="claim' not in result.renderings.html


def test_the_quality_of_a_source_is_told() -> None:
    source = SOURCE.model_copy(update={"venue": "Journal of Duties", "preprint": True, "doi": "10.1/x"})
    cited = quote("Duties protect labor.", source)
    result = rendered(f"Duties {marker_of(cited)}.", quotes=(cited,))
    assert "Journal of Duties, preprint" in result.renderings.markdown
    assert "Journal of Duties, preprint" in result.renderings.html
    told = result.evidence["citations"][0]["source"]
    assert (told["venue"], told["doi"], told["preprint"], "retracted" in told) == ("Journal of Duties", "10.1/x", True, False)
