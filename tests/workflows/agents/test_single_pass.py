"""The report in one call: same evidence, marks and notices as by section writers, and a way back to them."""

from dataclasses import replace

import pytest

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, Completion
from app.domain.errors import ContextTooLong
from app.domain.evidence import Finding, QuoteSurroundings
from app.domain.query import Language, ResearchQuery
from app.domain.report import Report
from app.domain.writer import Composition, WriterSettings
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.agents.scripted_report import FOUND, GOOD, ONE, PLAN, PROTECT, QUERY, RAISE, STABLE, rendered
from workflows.agents.asker import Asker
from workflows.agents.codec import TagCodec
from workflows.agents.kit import Bounds, Kit
from workflows.agents.quote_book import QuoteBook
from workflows.agents.reporting import write_report
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.outline import outline_of_findings
from workflows.agents.reporting.single_pass import write_in_one_pass
from workflows.agents.reporting.single_pass_prompt import read_shown_quotes, render_single_pass
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local_record import LocalRecord

WHOLE = (
    "# Why tariffs stayed\n\n## Summary\n\nProtection came first [q1].\n\n## Workshops and wages\n\nThe law of 1824 was to "
    "protect makers [q1].\n\n### Wages\n\nThat of 1890 was to protect wages [q2][q99].\n\n## What it cost\n\nOne message says "
    "prices rose [q3].\n\n## References\n\n- [q1] the message\n"
)
ONE_PASS = QUERY.model_copy(update={"writer": WriterSettings(composition=Composition.SINGLE_PASS)})


def whole_writer(*whole: ScriptedAnswer) -> ScriptedModel:
    """A model that writes whole reports in this order, and sections as the good model does."""
    left = iter(whole)

    def answer(request: ChatRequest) -> ScriptedAnswer:
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


async def test_one_call_writes_the_whole_report_after_the_outline() -> None:
    model = whole_writer(WHOLE)
    report = await write(model)
    assert [step_of(request) for request in model.requests] == ["outline", "text"]
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
    assert any("1 citations" in notice for notice in report.notices)
    # The text names one side of what the searches found to be disputed; the other is added to the section that cites the first.
    assert {q.text for q in report.quotes} >= {PROTECT.text, RAISE.text, STABLE.text}
    assert "disagree on whether prices rose" in report.sections[3].body


async def test_the_writer_sees_question_outline_quotes_their_surroundings_and_what_the_reader_wants() -> None:
    around = QuoteSurroundings(key=PROTECT.key, before="In December he wrote: ", after=" [q7] Nobody objected.")
    first = FOUND[0].model_copy(update={"around": (around,)})
    model = whole_writer(WHOLE)
    await write(model, (first, FOUND[1]))
    system, user = (message.content for message in model.requests[-1].messages)
    assert "learn the reasons" in system
    assert f"# {'Protection first, prices later'}\n1. Workshops and wages" in user
    assert f'<quote id="q1" source="{PROTECT.source.title}' in user
    assert "…In December he wrote: [q1] ‹q7] Nobody objected.…" in user
    assert QUERY.question in user


@pytest.mark.parametrize("broken", ["cut", "loop", "uncited", "too long a context"])
async def test_an_answer_that_cannot_be_used_is_asked_for_again_and_then_sections_are_written(broken: str) -> None:
    bad: dict[str, ScriptedAnswer] = {
        "cut": Completion(text=WHOLE[:90], model="m", finish_reason="length", usage=Usage(model_calls=1)),
        "loop": "The duty rose again. " * 400,
        "uncited": "# Title\n\nPrices rose.",
        "too long a context": ContextTooLong("9000 tokens are too many"),
    }
    again = await write(whole_writer(bad[broken], WHOLE) if broken != "too long a context" else whole_writer(WHOLE))
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
    model = whole_writer("# T\n\n## Prices\n\nPrices rose [q3].")
    asked = ONE_PASS.model_copy(update={"question": "Did these laws raise the price to consumers of articles imported?"})
    report = await write(model, query=asked, record=record, bounds=Bounds(evidence_chars=330))
    shown = read_shown_quotes(model.requests[-1].messages[1].content)
    assert "q3" in [quote.id for quote in shown]
    assert len(shown) < 4
    assert all(quote.text in {q.text for f in FOUND for q in f.quotes} for quote in shown)
    assert any("left out for length" in message for message in told)
    assert "Prices rose [1]." in rendered(report)


async def test_a_run_that_says_nothing_has_its_sections_written() -> None:
    report = await write(whole_writer(), query=QUERY)
    assert report.composition is Composition.SECTIONS
    assert ONE.split("[")[0].splitlines()[2].strip() in rendered(report)


@pytest.mark.parametrize("language", list(Language))
async def test_what_is_rendered_from_what_was_shown_is_the_same_prompt(language: Language) -> None:
    """Hostile titles, tags and ids in sources change nothing."""
    odd = RAISE.model_copy(
        update={
            "source": RAISE.source.model_copy(update={"title": 'The "price" <quote id="q9">, 1890-01-01 ' + "x" * 190}),
        }
    )
    finding = Finding(**(dict(FOUND[1]) | {"quotes": (odd, STABLE), "conflicts": ()}))
    model = whole_writer("# T\n\n## A\n\nPrices rose [q1].")
    kit: Kit = replace(make_kit(model, make_record(), language=language), codec=TagCodec())
    query = ONE_PASS.model_copy(update={"language": language})
    desk = ReportDesk(kit, query, PLAN, (finding,), QuoteBook((finding,)), Asker(kit, "report"))
    outline = outline_of_findings(PLAN, (finding,), "T")
    assert await write_in_one_pass(desk, outline)
    system, user = model.requests[-1].messages
    quotes = read_shown_quotes(user.content)
    assert [quote.id for quote in quotes] == ["q1", "q2"]
    again = render_single_pass(kit.prompts, language, system.content, query.question, outline, quotes)
    assert again == (system, user)
