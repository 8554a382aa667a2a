"""What a reader gets without a model when the answer takes two documents, over a folder of short files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.domain.report import Report
from app.reports.rendering.numbering import number_citations
from retrieval.search.in_process import LocalSearcher, open_local
from retrieval.store.catalogue import Collection, CorpusKind
from tests.workflows.extractive.extractive_report import write_report_on

FILES = {
    "Anna Kovářová": "Anna Kovářová is a fictional surgeon in the television series Hillside Ward, played by Petra Malá.",
    "Anna Benson": "Anna Benson is a fictional surgeon in a British radio play of 1961.",
    "Hillside Ward": "Hillside Ward is a Moravian television series. It was created in 1994 by the producer Otto Brandl, who "
    "wrote most of its first two seasons himself.",
    "Harbour Lights": "Harbour Lights is a television series about a lifeboat. It was filmed in Cornwall.",
    "Brno": "Brno is the largest city in Moravia. Its trams carry two hundred million passengers a year.",
    "Riverton Library": "The yearly fee for a reader's card, which had not changed since the library was moved to the old grain "
    "store beside the river and which the mayor had called a trifle, was raised in March of last year from 9 to 11 euros, "
    "although the readers' council had asked for a delay.",
    "Jan Vrba": "Now a farmer, he became known as the founder, lead guitarist, singer, and songwriter of the band Slow Orchard, "
    "as well as being a member of several other bands that played in the villages around it.",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSearcher]:
    """A folder of short Markdown files, found by words."""
    files = tmp_path_factory.mktemp("files")
    for title, text in FILES.items():
        Path(files / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    with open_local(
        tmp_path_factory.mktemp("home"), Collection(name="mine", kind=CorpusKind.FOLDER, path=str(files))
    ) as searcher:
        yield searcher


async def cited(question: str, searcher: LocalSearcher) -> tuple[Report, list[str]]:
    """The report and the titles of what it cites, in order."""
    report = await write_report_on(question, searcher, ("mine",))
    return report, [citation.quote.source.title for citation in number_citations(report).citations]


async def test_both_links_of_a_chain_are_cited_and_no_namesake(folder: LocalSearcher) -> None:
    _, titles = await cited("Which producer created the television series with the surgeon Anna Kovářová?", folder)
    assert {"Anna Kovářová", "Hillside Ward"} <= set(titles)
    assert "Anna Benson" not in titles


async def test_a_name_is_found_without_its_accents(folder: LocalSearcher) -> None:
    _, titles = await cited("In which television series does Anna Kovarova appear?", folder)
    assert titles[0] == "Anna Kovářová"


async def test_a_quotation_is_not_cut_before_a_figure_that_belongs_to_it(folder: LocalSearcher) -> None:
    report, _ = await cited("How did the yearly fee for a reader's card change?", folder)
    said = [citation.quote.text for citation in number_citations(report).citations if "fee" in citation.quote.text]
    assert said
    assert all("from 9 to 11 euros" in text for text in said)


async def test_a_quotation_is_not_cut_between_the_parts_of_a_list(folder: LocalSearcher) -> None:
    report, _ = await cited("What was Jan Vrba a founder of?", folder)
    said = [citation.quote.text for citation in number_citations(report).citations if "founder" in citation.quote.text]
    assert said
    assert all("of the band Slow Orchard" in text for text in said)


async def test_short_reports_are_paragraphs_with_markers_right_after_the_quotation(folder: LocalSearcher) -> None:
    report, titles = await cited("Which producer created the television series with the surgeon Anna Kovářová?", folder)
    bodies = [body for section, body in zip(report.sections, number_citations(report).bodies, strict=True) if "”" in body]
    assert titles
    assert all("”[" in body and "” [" not in body and not body.startswith("- ") for body in bodies)


async def test_a_question_that_shares_only_a_name_with_the_sources_is_refused(folder: LocalSearcher) -> None:
    report, titles = await cited("What is the best pizza in Moravia?", folder)
    assert titles == []
    assert report.sections[0].heading == "No answer in these sources"
