"""What a reader gets without a model on questions that single passages answer, over papers beside an encyclopedia."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.domain.report import Report
from app.reports.rendering.numbering import number_citations
from retrieval.search.in_process import LocalSearcher, open_local
from retrieval.store.catalogue import Collection, CorpusKind
from tests.workflows.extractive.extractive_report import write_report_on
from workflows.agents.extractive.kinds import QuestionKind
from workflows.agents.extractive.nesting import is_nested
from workflows.agents.extractive.question import analyse

FILES = {
    "Lowering lipids in healthy adults": "OBJECTIVES To investigate whether statins reduce mortality in healthy adults. METHODS "
    "We searched four registers for trials of statins. RESULTS Treatment with statins reduced mortality from all causes (odds "
    "ratio 0.88, 95% confidence interval 0.81 to 0.96).",
    "Puerperal fever": "The physician reduced mortality from puerperal fever by having the students wash their hands.",
    "Population of the islands": "The mortality of the islands fell slowly, and their population is an example of a young one.",
    "Bone": "A bone is a rigid organ that is part of the skeleton of vertebrates.",
    "Vitamin": "A vitamin is an organic compound that an organism needs in small amounts.",
    "Sunlight and the elderly": "In nursing homes vitamin D supplementation prevented hip fractures, and bone density at the "
    "neck of the femur rose by three percent in two years.",
    "Ulcers": "Aspirin prevents stroke in patients who have had one, at the price of bleeding from the stomach.",
    "Thienopyridines": "Clopidogrel prevents stroke about as well as its predecessor, and is kinder to the stomach.",
    "Traditions": "The traditions of the fellowship recommend that members avoid dogma.",
    "Therapy of fevers": "The treatment of marsh fever changed when quinine came from Peru; before, patients were bled. In the "
    "last century its treatment changed again, to combinations of drugs.",
    "Port Ellery": "The harbour of Port Ellery was praised by all who saw it opened to trade. The basin took ships from 4 May "
    "1887 on, when the harbour of Port Ellery was declared open.",
    "Time signals": "A time signal is a mark in time that has changed little over the years of radio.",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSearcher]:
    """A folder of short Markdown files, found by words."""
    files = tmp_path_factory.mktemp("files")
    for title, text in FILES.items():
        Path(files / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    mine = Collection(name="mine", kind=CorpusKind.FOLDER, path=str(files))
    with open_local(tmp_path_factory.mktemp("home"), mine) as searcher:
        yield searcher


async def quoted(question: str, searcher: LocalSearcher) -> tuple[Report, list[str]]:
    """The report and its quotations, in order."""
    report = await write_report_on(question, searcher, ("mine",))
    return report, [citation.quote.text for citation in number_citations(report).citations]


async def test_a_finding_leads_and_neither_aims_nor_other_subjects_are_quoted(library: LocalSearcher) -> None:
    _, texts = await quoted("Do statins reduce mortality?", library)
    assert "statins reduced mortality from all causes" in texts[0]
    assert not any("OBJECTIVES" in text or "searched" in text for text in texts)
    assert not any("puerperal" in text or "islands" in text for text in texts)


async def test_what_is_asked_is_answered_rather_than_its_words_defined(library: LocalSearcher) -> None:
    _, texts = await quoted("Does vitamin D supplementation prevent bone fractures?", library)
    assert "vitamin D supplementation prevented hip fractures" in texts[0]
    assert not any("rigid organ" in text or "organic compound" in text for text in texts)


async def test_when_is_answered_by_a_date(library: LocalSearcher) -> None:
    _, texts = await quoted("When was the harbour of Port Ellery opened?", library)
    assert texts == ["The basin took ships from 4 May 1887 on, when the harbour of Port Ellery was declared open."]


async def test_a_comparison_of_things_without_names_has_both_sides_and_nothing_else(library: LocalSearcher) -> None:
    _, texts = await quoted("Compare aspirin and clopidogrel for preventing stroke.", library)
    assert sorted(text.split()[0] for text in texts) == ["Aspirin", "Clopidogrel"]


async def test_a_course_over_time_is_not_about_time(library: LocalSearcher) -> None:
    _, texts = await quoted("How has the treatment of marsh fever changed over time?", library)
    assert any("quinine" in text for text in texts)
    assert not any("time signal" in text for text in texts)


async def test_a_side_on_which_nothing_is_said_is_told_and_not_filled(library: LocalSearcher) -> None:
    report, texts = await quoted("How do mRNA vaccines differ from traditional vaccines?", library)
    assert not any("dogma" in text for text in texts)
    assert "mRNA" in " ".join(section.body for section in report.sections)


@pytest.mark.parametrize(
    ("question", "nested"),
    [
        ("What university did the author of The Selfish Gene attend?", True),
        ("Who directed the film that was shot in Leland in 1986?", True),
        ("Who wrote the book named after a lake?", True),
        ("Toad Hall is part of a university in what city?", True),
        ("Who designed the Eiffel Tower and when was it completed?", False),
        ("What are the effects of climate change on malaria transmission?", False),
        ("Does smoking increase the risk of lung cancer?", False),
    ],
)
def test_a_question_within_a_question_is_noticed(question: str, nested: bool) -> None:
    assert is_nested(question) is nested


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Compare aspirin and clopidogrel for preventing stroke.", ("aspirin", "clopidogrel")),
        ("What is the difference between a stroke and a seizure?", ("stroke", "seizure")),
        ("How do mRNA vaccines differ from traditional vaccines?", ("mRNA vaccines", "traditional vaccines")),
        ("How does Lincoln's view differ from Buchanan's?", ("Lincoln", "Buchanan")),
    ],
)
def test_the_sides_of_a_comparison_are_told_apart(question: str, sides: tuple[str, ...]) -> None:
    asked = analyse(question)
    assert (asked.kind, asked.sides) == (QuestionKind.COMPARE, sides)


def test_a_letter_belongs_to_the_noun_before_it() -> None:
    assert "vitamin D" in analyse("Does vitamin D prevent fractures?").names
