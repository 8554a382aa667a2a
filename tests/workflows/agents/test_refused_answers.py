"""Nothing cut, echoed or looped gets through: it is asked for again, then done without, and the reader is told."""

import json

import pytest

from app.domain.chat import ChatRequest, Completion
from app.domain.errors import AnswerInvalid
from app.domain.evidence import Finding, Passage
from app.domain.query import SystemName
from app.domain.report import Report
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.agents.scripted_report import QUERY, RAISE, TWO, rendered, write, writing
from tests.workflows.agents.scripted_search import DONE, PROTECT, make_acting_model, search_subtask, write_act, write_finding
from tests.workflows.systems.one_question import answer_soundly, prompt_of, run_system
from workflows.agents.follow_up import answer_from_evidence
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local_record import LocalRecord

LOOPING = "One message says prices rose again and again for everyone [q3]; the other message says the same of wages [q4]. " * 20
ECHOING = f"## Points to Make\n\n<evidence>\n{TWO}"
ENDLESS = f"{TWO} " + " ".join(
    f"Then came law {i} of the year {i} with duty {i * 3} on goods of kind {i * 7} [q3]." for i in range(200)
)


def cut(text: str) -> Completion:
    return Completion(text=text, model="m", finish_reason="length")


def in_turn(*answers: ScriptedAnswer) -> ScriptedModel:
    """A report's model whose second section is answered with these, the last one again and again."""
    left = list(answers)
    whole = writing()

    def answer(request: ChatRequest) -> ScriptedAnswer:
        asked = "\n".join(m.content for m in request.messages)
        if step_of(request) == "text" and "Your section: What it cost" in asked:
            return left.pop(0) if len(left) > 1 else left[0]
        return whole._answer(request)

    return ScriptedModel(answer)


def requests_for_the_section(model: ScriptedModel) -> list[ChatRequest]:
    return [r for r in model.requests if "Your section: What it cost" in "\n".join(m.content for m in r.messages)]


@pytest.mark.parametrize("bad", [cut(TWO), LOOPING, ECHOING, ENDLESS])
async def test_a_section_that_fails_is_made_again(bad: ScriptedAnswer) -> None:
    report = await write(in_turn(bad, TWO))
    assert "One message says prices rose [3]; another denies it [4]." in rendered(report)
    assert report.notices == ()


@pytest.mark.parametrize("bad", [cut(TWO), LOOPING, ECHOING, ENDLESS])
async def test_a_section_that_fails_again_is_quotes_from_its_evidence_and_the_report_says_so(bad: ScriptedAnswer) -> None:
    told: list[str] = []
    record = LocalRecord("t", watch=lambda _, __, payload: told.append(str(payload.get("message", ""))))
    report = await write(in_turn(bad), record=record)
    section = body_of(report, "What it cost")
    assert RAISE.text in section
    assert not any(words in section for words in ("another denies", "again and again", "Points to Make", "Then came law"))
    assert "“What it cost” no sentence is the language model's" in report.notices[0]
    assert any("“What it cost” no sentence is" in message for message in told)


async def test_a_reader_is_not_told_what_the_model_was_told_to_do() -> None:
    report = await write(in_turn("Prices rose, and some deny it."))
    assert "(no statement cites a source)" in report.notices[0]


def body_of(report: Report, heading: str) -> str:
    return next(section.body for section in report.sections if section.heading == heading)


async def test_a_cut_answer_gets_more_room_then_is_asked_shorter() -> None:
    model = in_turn(cut(TWO), cut(TWO), TWO)
    assert "another denies it" in rendered(await write(model))
    first, roomy, shorter = requests_for_the_section(model)
    assert (roomy.max_tokens, roomy.messages) == (3 * first.max_tokens, first.messages)
    assert (shorter.max_tokens, len(shorter.messages)) == (roomy.max_tokens, len(first.messages) + 2)
    assert "at most half as many words" in shorter.messages[-1].content


async def test_a_loop_is_asked_again_at_another_temperature_and_hardly_shown() -> None:
    model = in_turn(LOOPING, TWO)
    await write(model)
    first, again = requests_for_the_section(model)
    assert first.temperature == 0.0 < again.temperature
    assert "repeats itself" in again.messages[-1].content
    assert len(again.messages[-2].content) <= 200


@pytest.mark.parametrize(
    "bad",
    [
        Completion(text=DONE, model="m", finish_reason="length"),
        write_finding(("p1", PROTECT), answer="It was meant to protect the makers of the land against all others [p1]. " * 20),
    ],
)
async def test_a_finding_that_is_cut_or_loops_inside_its_json_is_replaced_by_what_was_found(bad: ScriptedAnswer) -> None:
    model = make_acting_model(write_act("search", "tariff of 1824"), conclude=bad)
    found = await search_subtask(model)
    assert found.answer == "No summary could be written; these are the passages found."
    assert PROTECT in [q.text for q in found.quotes]
    assert [step_of(r) for r in model.requests].count("finding") in (2, 3)


async def test_a_finding_that_is_too_long_is_cut_and_not_lost() -> None:
    said = [f"Sentence {i} says {i * 7} of it [p1]." for i in range(800)]
    found = await search_subtask(
        make_acting_model(write_act("search", "tariff of 1824"), conclude=write_finding(("p1", PROTECT), answer=" ".join(said)))
    )
    assert found.answer.startswith("Sentence 0 says 0 of it [[")
    assert "Sentence 799" not in found.answer


async def test_every_refusal_is_told_in_the_events() -> None:
    told: list[str] = []
    record = LocalRecord("t", watch=lambda _, __, payload: told.append(str(payload.get("message", ""))))
    bad = json.dumps(
        {"thought": "<what is known, what is missing, why this action comes next>", "action": "finish", "inputs": []}
    )
    found: Finding = await search_subtask(make_acting_model(bad, write_act("search", "tariff of 1824")), record=record)
    assert found.quotes
    assert [message for message in told if "(act) was refused and is asked for again: it repeats the request" in message]


async def test_a_loop_that_the_model_adapter_ended_is_asked_again() -> None:
    broken_off = Completion(text="One message says", model="m", finish_reason="loop")
    model = in_turn(broken_off, TWO)
    await write(model, record=make_record())
    assert len(requests_for_the_section(model)) == 2


def too_long(cited: str) -> str:
    return " ".join(f"Law {i} of the year {i * 7} set a duty of {i * 3} on goods of kind {i * 11} {cited}." for i in range(900))


@pytest.mark.parametrize("system", [SystemName.MAMS, SystemName.REACT])
async def test_a_draft_far_beyond_its_length_is_refused(system: SystemName) -> None:
    def wordy(request: ChatRequest) -> ScriptedAnswer:
        return answer_soundly(request) if request.response_schema else too_long("[p1]")

    report, _, model = await run_system(system, wordy)
    again = [r for r in model.requests if "words where about" in r.messages[-1].content]
    assert again
    assert not any("Law 7" in section.body for section in report.sections)
    assert "words where about" in report.notices[0]


async def test_a_digest_far_beyond_its_length_is_refused() -> None:
    def wordy(request: ChatRequest) -> ScriptedAnswer:
        return too_long("[p1]") if "hand on what bears" in prompt_of(request) else answer_soundly(request)

    report, _, model = await run_system(SystemName.REACT, wordy)
    assert not any("Law 7" in prompt_of(r) for r in model.requests if "hand on what bears" not in prompt_of(r))
    assert "words where about 300" in report.notices[0]


async def test_an_answer_to_a_further_question_far_beyond_its_length_is_refused() -> None:
    source = RAISE.source
    passage = Passage(source=source, text=RAISE.text, start=RAISE.start, end=RAISE.end)
    kit = make_kit(ScriptedModel(lambda _: too_long("[q1]")), make_record())
    with pytest.raises(AnswerInvalid, match="words where about 200"):
        await answer_from_evidence("Did prices to consumers rise?", QUERY, [RAISE], [passage], kit)
