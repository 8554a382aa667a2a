"""The report in one call over whole passages: what it sees, what the critical pass changes, and the way back to sections."""

import json
from dataclasses import replace

import pytest

from app.domain.budget import StopReason, Usage
from app.domain.chat import ChatRequest, Completion
from app.domain.errors import ContextTooLong, ModelRefused
from app.domain.evidence import Finding, Passage, Quote
from app.domain.plan import ReaderWants
from app.domain.query import Language, ResearchQuery
from app.domain.report import Report
from app.domain.rubric import Criterion, Rubric
from app.domain.writer import Composition, WriterSettings
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.agents.scripted_report import FOUND, GOOD, ONE, PLAN, PROTECT, QUERY, RAISE, STABLE, rendered
from workflows.agents.asker import Asker
from workflows.agents.codec import TagCodec
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.kit import Bounds, Kit
from workflows.agents.memory import SharedMemory
from workflows.agents.reader_wants import tell_all
from workflows.agents.reporting import write_report
from workflows.agents.reporting.critique import count_length
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.whole_prompt import read_whole_report, render_whole_report
from workflows.agents.reporting.whole_report import write_in_one_pass
from workflows.agents.shown_passages import format_documents, read_documents
from workflows.agents.stage_memory import memory_of_report
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local_record import LocalRecord

WHOLE = (
    "# Why tariffs stayed\n\n## Summary\n\nProtection came first [q1].\n\n## Workshops and wages\n\nThe law of 1824 was to "
    "protect makers [q1].\n\n### Wages\n\nThat of 1890 was to protect wages [q2][q99].\n\n## What it cost\n\nOne message says "
    "prices rose [q4].\n\n## References\n\n- [q1] the message\n"
)
ONE_PASS = QUERY.model_copy(update={"writer": WriterSettings()})


def criticising(*edits: tuple[str, str], conflicts: tuple[dict[str, object], ...] = ()) -> str:
    return json.dumps({"edits": [{"find": find, "replace": new} for find, new in edits], "conflicts": conflicts})


NO_EDITS = criticising()


def whole_writer(*whole: ScriptedAnswer, critique: ScriptedAnswer = NO_EDITS) -> ScriptedModel:
    """A model that writes whole reports in this order, and sections as the good model does."""
    left = iter(whole)

    def answer(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) == "critique":
            return critique
        if step_of(request) != "text":
            return GOOD[step_of(request)]
        asked = request.messages[1].content
        heading = next((heading for heading in GOOD if f"Your section: {heading}" in asked), None)
        return GOOD[heading] if heading else next(left)

    return ScriptedModel(answer)


async def write(
    model: ScriptedModel, findings: tuple[Finding, ...] = FOUND, query: ResearchQuery = ONE_PASS, **more: object
) -> Report:
    record = more.pop("record", None) or make_record()
    assert isinstance(record, LocalRecord)
    return await write_report(query, PLAN, findings, make_kit(model, record, **more))  # type: ignore[arg-type]


def passage_of(quote: Quote, before: str = "", after: str = "") -> Passage:
    text = f"{before}{quote.text}{after}"
    start = quote.start - len(before)
    return Passage(source=quote.source, text=text, start=start, end=start + len(text))


async def test_the_writer_is_not_held_to_the_points_that_searchers_look_for() -> None:
    wants = ReaderWants(scope="before 1900", form="a page", must_cover=("wages", "prices"), key_terms=("duties",))
    told = ["Why tariffs stayed.", "Scope: before 1900", "Form: a page", "Must cover: wages; prices", "Key terms: duties"]
    now = PLAN.model_copy(update={"intent": told[0], "wants": wants})
    assert tell_all(now, Language.ENGLISH).splitlines() == told
    before = PLAN.model_copy(update={"intent": "\n".join(told)})
    for plan, lines in ((now, [told[0], told[2]]), (before, told)):
        model = whole_writer(WHOLE)
        report = await write_report(ONE_PASS, plan, FOUND, make_kit(model, make_record()))
        asked = model.requests[0].messages[-1].content
        assert "\n".join(lines) in asked
        assert ("Must cover" in asked) is (plan is before)
        assert report.quotes


def test_the_critic_is_told_which_words_are_in_tables() -> None:
    text = "# Why\n\nIt rose [q1].\n\n| a | b |\n|---|---|\n| 1 | two [q2] |"
    assert count_length(text) == {"words": "7", "tables": "4"}


async def test_two_calls_write_the_whole_report() -> None:
    model = whole_writer(WHOLE)
    report = await write(model)
    assert [step_of(request) for request in model.requests] == ["text", "critique"]
    assert (report.composition, report.title) == (Composition.SINGLE_PASS, "Why tariffs stayed")
    assert [(s.level, s.heading) for s in report.sections] == [
        (2, "Summary"),
        (2, "Workshops and wages"),
        (3, "Wages"),
        (2, "What it cost"),
    ]
    text = rendered(report)
    assert "makers [1]" in text
    assert "[q" not in text
    assert report.removed_citations == 1
    assert {q.text for q in report.quotes} >= {PROTECT.text, RAISE.text}


async def test_the_program_writes_no_sentence_into_a_report() -> None:
    report = await write(whole_writer(WHOLE))
    said = WHOLE.partition("## References")[0]
    assert all(line in said for section in report.sections for line in section.body.split("[[")[0].splitlines())


async def test_the_writer_sees_whole_passages_under_their_documents_and_what_is_known_of_the_matter() -> None:
    first = FOUND[0].model_copy(update={"passages": (passage_of(RAISE, "In December he wrote: ", " [q7] Nobody objected."),)})
    model = whole_writer(WHOLE)
    await write(model, (first, FOUND[1]))
    system, user = (message.content for message in model.requests[0].messages)
    assert system
    assert f'<document title="{RAISE.source.title}"' in user
    assert f'<passage id="q1">\nIn December he wrote: {RAISE.text} ‹q7] Nobody objected.' in user
    assert user.index("<evidence>") < user.index("learn the reasons") < user.index(QUERY.question)
    assert "wages by trade" in user
    assert "whether prices rose (q" in user
    assert "Protection [q" in user


async def test_a_citation_names_the_sentence_of_its_passage_that_says_it() -> None:
    passage = passage_of(RAISE, "The duty on salt is nine cents. ", " Wool grew dearer by four cents a pound in 1889.")
    finding = FOUND[1].model_copy(update={"passages": (passage,), "conflicts": ()})
    said = "# T\n\n## S\n\nSalt pays nine cents [q1]. Wool rose by four cents in 1889 [q1]."
    report = await write(whole_writer(said), (finding,))
    assert [q.text for q in report.quotes] == [
        "The duty on salt is nine cents.",
        "Wool grew dearer by four cents a pound in 1889.",
    ]
    assert "cents [1]. Wool rose by four cents in 1889 [2]" in rendered(report)


async def test_the_critical_pass_continues_the_conversation_and_its_edits_are_made() -> None:
    edits = (
        ("## What it cost", "## What it cost in 1887"),
        ("The law of 1824 was to protect makers [q1].", ""),
        ("One message says prices rose [q4].", "One message says prices rose [q4]; another denies it [q3]."),
        ("words that stand nowhere in it", "x"),
    )
    disputed = {"about": "whether prices rose", "passages": ["q4", "q3"]}
    model = whole_writer(WHOLE, critique=criticising(*edits, conflicts=(disputed,)))
    report = await write(model)
    assert model.requests[1].messages[:2] == model.requests[0].messages
    assert model.requests[1].messages[2].content == WHOLE.strip()
    text = rendered(report)
    assert "What it cost in 1887" in text
    assert "makers" not in text
    assert "another denies it [" in text
    assert [conflict.about for conflict in report.conflicts] == ["whether prices rose"]
    assert set(report.conflicts[0].quote_keys) == {RAISE.key, STABLE.key}


async def test_edits_that_take_away_most_of_a_report_are_not_made() -> None:
    report = await write(whole_writer(WHOLE, critique=criticising((WHOLE[80:240], ""))))
    assert "makers [1]" in rendered(report)


async def test_without_the_critical_pass_the_report_stands_and_says_so() -> None:
    report = await write(whole_writer(WHOLE, critique=ModelRefused("content filter")))
    assert report.composition is Composition.SINGLE_PASS
    assert "could not read its report again" in report.notices[0]


async def test_the_writer_sees_the_rubric() -> None:
    criteria = tuple(Criterion(title=f"T{n}", description=f"Key Criterion: Names reason {n}.", weight=5) for n in range(1, 8))
    model = whole_writer(WHOLE)
    memory = memory_of_report(PLAN, FOUND, SharedMemory(), Rubric(criteria=criteria))
    await write_report(ONE_PASS, PLAN, FOUND, replace(make_kit(model, make_record()), memory=memory))
    assert "- Key Criterion: Names reason 7." in model.requests[0].messages[1].content


@pytest.mark.parametrize("broken", ["cut", "loop", "uncited", "too long a context"])
async def test_an_answer_that_cannot_be_used_is_asked_for_again_and_then_sections_are_written(broken: str) -> None:
    bad: dict[str, ScriptedAnswer] = {
        "cut": Completion(text=WHOLE[:90], model="m", finish_reason="length", usage=Usage(model_calls=1)),
        "loop": "The duty rose again. " * 400,
        "uncited": "# Title\n\nPrices rose.",
        "too long a context": ContextTooLong("9000 tokens are too many"),
    }
    again = await write(whole_writer(bad[broken], WHOLE))
    assert again.composition is Composition.SINGLE_PASS
    assert not any("one by one" in notice for notice in again.notices)
    model = whole_writer(*[bad[broken]] * 3)
    report = await write(model)
    assert report.composition is Composition.SECTIONS
    assert report.sections[1].heading == "Workshops and wages"
    assert sum("could not write the report in one pass" in notice for notice in report.notices) == 1
    assert rendered(report)


async def test_more_evidence_than_fits_is_cut_to_what_bears_on_the_report() -> None:
    told: list[str] = []
    record = LocalRecord("test", watch=lambda event, agent, payload: told.append(str(payload.get("message"))))
    model = whole_writer("# T\n\n## Prices\n\nPrices rose [q4].")
    asked = ONE_PASS.model_copy(update={"question": "Did these laws raise the price to consumers of articles imported?"})
    report = await write(model, query=asked, record=record, bounds=Bounds(evidence_chars=150, context_tokens=64_000))
    shown = read_documents(model.requests[0].messages[1].content)
    assert "q4" in [passage.id for passage in shown]
    assert len(shown) < 4
    assert all(passage.text in {q.text for f in FOUND for q in f.quotes} for passage in shown)
    assert any("left out for length" in message for message in told)
    assert "Prices rose [1]." in rendered(report)


@pytest.mark.parametrize(
    ("bounds", "way"),
    [
        (Bounds(), Composition.SINGLE_PASS),
        (Bounds(context_tokens=64_000, evidence_chars=150), Composition.SINGLE_PASS),
        (Bounds(evidence_chars=150), Composition.SECTIONS),
        (Bounds(context_tokens=64_000, sections=20), Composition.SECTIONS),
    ],
)
async def test_sections_are_for_small_contexts_and_long_reports(bounds: Bounds, way: Composition) -> None:
    report = await write(whole_writer(WHOLE), bounds=bounds)
    assert report.composition is way
    if way is Composition.SECTIONS:
        assert ONE.split("[")[0].splitlines()[2].strip() in rendered(report)


@pytest.mark.parametrize("language", list(Language))
async def test_what_is_rendered_from_what_was_shown_is_the_same_prompt(language: Language) -> None:
    """Hostile titles, tags and ids in sources change nothing."""
    odd = RAISE.model_copy(
        update={
            "source": RAISE.source.model_copy(update={"title": 'The "price" <passage id="q9">\n, 1890-01-01 ' + "x" * 190}),
        }
    )
    finding = Finding(subtask_id="s2", quotes=(odd, STABLE), answer="They [[x]].", stop=StopReason.SUFFICIENT)
    model = whole_writer("# T\n\n## A\n\nPrices rose [q1].", criticising())
    kit: Kit = replace(make_kit(model, make_record(), language=language), codec=TagCodec())
    query = ONE_PASS.model_copy(update={"language": language})
    desk = ReportDesk(kit, query, PLAN, (finding,), EvidenceBook((finding,)), Asker(kit, "report"))
    assert await write_in_one_pass(desk)
    system, user = model.requests[0].messages
    shown = read_documents(user.content)
    assert [passage.id for passage in shown] == ["q1", "q2"]
    told = read_whole_report(user.content, query.question)
    assert told
    assert "They [q1]" not in told.background
    assert kit.today.isoformat() in told.task
    assert render_whole_report(kit.prompts, language, query.question, format_documents(shown), told) == (system, user)
