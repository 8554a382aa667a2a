"""A section of a finished report changed, and a question answered, without a model: only in words of the stored evidence."""

from datetime import date

import pytest

from app.domain.budget import StopReason
from app.domain.evidence import Finding, Quote, Source, snapshot_hash
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import Language, ResearchQuery, detect_language
from app.domain.report import Report, Section
from tests.workflows.agent_kit import make_kit, make_record
from workflows.agents.brief import revise_section
from workflows.agents.follow_up import answer_in_quotes, widen_quotes
from workflows.agents.revision import NothingToAdd, SectionRevision, list_cited_keys
from workflows.chat_models.absent import AbsentModel

SAID = [
    "The tariff of 1824 was meant to protect domestic manufactures.",
    "Its friends said that foreign goods ruined the workshops of the north.",
    "Southern planters answered that the duties fell upon them alone.",
    "The revenue of that year exceeded eleven millions of dollars.",
    "Wages of labor rose in the mills along the rivers, as the Secretary reported.",
    "Railway iron was exempted, because builders complained of its price.",
    "Sheep farmers in Ohio asked Congress for a higher duty on wool.",
    "Merchants of Boston petitioned against every increase of duties on hemp.",
]
TEXT = " ".join(SAID)
SOURCE = Source(url="https://example.org/1824", title="Message", snapshot=snapshot_hash(TEXT), published=date(1824, 12, 7))
QUERY = ResearchQuery(question="How did people argue about the tariff of 1824?")
PLAN = ResearchPlan(
    title="Tariffs",
    subtasks=(Subtask(id="s1", title="For", question="For?"), Subtask(id="s2", title="Against", question="Against?")),
)


def quote(text: str) -> Quote:
    start = TEXT.index(text)
    return Quote(source=SOURCE, text=text, start=start, end=start + len(text))


QUOTES = [quote(text) for text in SAID]
FINDINGS = (
    Finding(subtask_id="s1", quotes=tuple(QUOTES[:5]), stop=StopReason.SUFFICIENT),
    Finding(subtask_id="s2", quotes=tuple(QUOTES[5:]), stop=StopReason.SUFFICIENT),
)


def report(*bodies: list[Quote]) -> Report:
    sections = [
        Section(heading=heading, body=" ".join(f"“{q.text}”[[{q.key}]]" for q in body))
        for heading, body in zip(("For", "Against"), bodies, strict=True)
    ]
    return Report(title="Tariffs", sections=tuple(sections), quotes=tuple(q for body in bodies for q in body))


async def changed(given: Report, deepen: bool, wish: str = "") -> Section:
    [section] = await revise_section(
        SectionRevision(given, 0, deepen, wish), QUERY, PLAN, FINDINGS, make_kit(AbsentModel(), make_record())
    )
    return section


async def test_a_rewritten_section_makes_other_statements_and_repeats_no_other_section() -> None:
    given = report(QUOTES[:2], QUOTES[5:6])
    section = await changed(given, deepen=False)
    now = list_cited_keys([section])
    assert section.heading == "For"
    assert now
    assert now <= {q.key for q in QUOTES}
    assert not now & list_cited_keys(given.sections)
    assert all(f"“{q.text}”" in section.body for q in QUOTES if q.key in now)


async def test_a_deepened_section_keeps_what_it_said_and_says_more() -> None:
    given = report(QUOTES[:2], QUOTES[5:6])
    section = await changed(given, deepen=True)
    assert section.body.startswith(given.sections[0].body)
    assert list_cited_keys([section]) > list_cited_keys(given.sections[:1])


async def test_a_wish_chooses_among_the_evidence() -> None:
    given = report(QUOTES[:1], QUOTES[5:6])
    section = await changed(given, deepen=False, wish="wool and sheep in Ohio")
    assert QUOTES[6].key in list_cited_keys([section])


async def test_when_everything_is_said_the_reader_is_told() -> None:
    with pytest.raises(NothingToAdd, match="holds nothing for this section"):
        await changed(report(QUOTES[:5], QUOTES[5:]), deepen=True)


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("What did merchants of Boston petition against?", SAID[7]),
        ("How heavy is a blue whale?", ""),
        ("What did Daniel Webster say about duties on hemp?", ""),
        ("蓝鲸有多重？", ""),
    ],
)
async def test_a_question_is_answered_from_the_text_around_stored_quotes(question: str, answered: str) -> None:
    """Only the first sentence was quoted; the rest of the stored copy stands around it."""
    first = QUOTES[0]
    passages = widen_quotes(
        [first, QUOTES[2]], {first.key: ("", TEXT[first.end :]), QUOTES[2].key: (TEXT[: QUOTES[2].start], "")}
    )
    assert [(p.start, p.end, p.text) for p in passages] == [(0, len(TEXT), TEXT)]
    kit = make_kit(AbsentModel(), make_record(), language=detect_language(question))
    told = await answer_in_quotes(question, QUERY, passages, kit)
    assert told.answered is bool(answered)
    assert (answered in told.body) if answered else not told.quotes
    assert all(TEXT[q.start : q.end] == q.text for q in told.quotes)
    assert kit.language is (Language.CHINESE if "鲸" in question else Language.ENGLISH)
