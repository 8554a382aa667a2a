"""A further question goes to the model with the evidence of the run, in whatever words it is asked."""

import pytest

from app.domain.chat import ChatRequest
from app.domain.evidence import Quote, Source, snapshot_hash
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.agents.scripted_report import QUERY, RAISE
from workflows.agents.follow_up import SHOWN, answer_from_evidence, widen_quotes
from workflows.agents.shown_passages import read_documents
from workflows.chat_models.scripted import ScriptedModel

TEXT = " ".join(f"Duty number {number} was laid on goods of kind {number}." for number in range(SHOWN + 10))
LONG = Source(url="https://example.org/long", title="Tariff schedule", snapshot=snapshot_hash(TEXT))


def quotes_of_long() -> list[Quote]:
    spans = [(start, TEXT.index(".", start) + 1) for start in range(len(TEXT)) if TEXT.startswith("Duty", start)]
    return [Quote(source=LONG, text=TEXT[start:end], start=start, end=end) for start, end in spans]


def cite_raise(request: ChatRequest) -> str:
    [shown] = [shown for shown in read_documents(request.messages[-1].content) if shown.text == RAISE.text]
    return f"Prices rose [{shown.id}]."


@pytest.mark.parametrize("question", ["Summarise this in three bullet points.", "Who benefited?", "为什么要征税？"])
async def test_a_question_that_shares_no_word_with_the_sources_is_answered_from_every_source(question: str) -> None:
    quotes = [*quotes_of_long(), RAISE]
    model = ScriptedModel(cite_raise)
    told = await answer_from_evidence(question, QUERY, quotes, widen_quotes(quotes, {}), make_kit(model, make_record()))
    assert told.answered
    assert told.quotes == (RAISE,)
    assert "Duty number 0 " in model.requests[0].messages[-1].content


async def test_what_shares_a_word_with_the_question_comes_first_and_not_alone() -> None:
    quotes = [*quotes_of_long(), RAISE]
    model = ScriptedModel(cite_raise)
    kit = make_kit(model, make_record())
    told = await answer_from_evidence("Which price rose?", QUERY, quotes, widen_quotes(quotes, {}), kit)
    assert told.quotes == (RAISE,)
    assert "Duty number 0 " in model.requests[0].messages[-1].content
