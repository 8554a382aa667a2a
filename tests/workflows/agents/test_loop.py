"""The loop itself: what is tried again, what the model is told, and when a loop without a model ends."""

from collections.abc import Sequence
from datetime import date

import pytest

from app.domain.budget import AgentLimits, StopReason
from app.domain.errors import ContextTooLong, ModelRefused, ToolError
from app.domain.evidence import Passage, Source
from retrieval.ports import Document, SearchFilter
from tests.workflows.agent_kit import step_of
from tests.workflows.agents.scripted_search import (
    PROTECT,
    SUBTASK,
    join_messages,
    make_acting_model,
    search_subtask,
    write_act,
    write_finding,
)
from tests.workflows.small_corpus import SmallCorpus
from workflows.agents.asker import ANEW
from workflows.systems.local_record import LocalRecord


async def test_a_search_that_failed_is_made_again_when_the_agent_asks_again() -> None:
    class Faltering(SmallCorpus):
        async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
            found = await super().search(query, limit, where)
            if len(self.queries) == 1:
                raise ToolError("the index lost its thread")
            return found

    corpus = Faltering()
    model = make_acting_model(write_act("search", "tariff of 1824"), write_act("search", "tariff of 1824"))
    found = await search_subtask(model, corpus)
    assert corpus.queries == ["tariff of 1824"] * 2
    assert "the index lost its thread" in join_messages(model)
    assert [q.text for q in found.quotes] == [PROTECT]
    assert found.usage.tool_calls == 2


@pytest.mark.parametrize(
    "act", [write_act("search", "tariff of 1824"), write_act("browse", "https://made.up/page"), write_act("search")]
)
async def test_the_second_repetition_of_a_call_is_sampled_anew_and_the_third_ends_the_search(act: str) -> None:
    told: list[str] = []
    record = LocalRecord("t", watch=lambda _, __, payload: told.append(str(payload.get("message", ""))))
    corpus = SmallCorpus()
    model = make_acting_model(write_act("search", "tariff of 1824"), *[act] * 9)
    found = await search_subtask(model, corpus, record, limits=AgentLimits(max_turns=10))
    acts = [request for request in model.requests if step_of(request) == "act"]
    first = 1 if act == write_act("search", "tariff of 1824") else 2
    assert [request.temperature for request in acts] == [0.0] * (first + 2) + [ANEW]
    assert acts[-1].messages == acts[-2].messages, "the repetition was not taken back"
    assert corpus.queries == ["tariff of 1824"]
    assert (found.stop, [q.text for q in found.quotes]) == (StopReason.REPEATING, [PROTECT])
    assert sum("sampled anew" in message for message in told) == 1


async def test_a_turn_that_was_sampled_anew_may_go_on() -> None:
    corpus = SmallCorpus()
    model = make_acting_model(*[write_act("search", "tariff of 1824")] * 3, write_act("search", "duties on wool"))
    found = await search_subtask(model, corpus, limits=AgentLimits(max_turns=10))
    assert corpus.queries == ["tariff of 1824", "duties on wool"]
    assert found.stop is StopReason.SUFFICIENT


async def test_the_model_is_told_when_its_turns_run_out() -> None:
    model = make_acting_model(*(write_act("search", f"tariff {number}") for number in range(9)))
    await search_subtask(model, limits=AgentLimits(max_turns=4, max_tool_calls=20))
    last = [request.messages[-1].content for request in model.requests if step_of(request) == "act"]
    assert ["Left: " in text for text in last] == [False, False, True, True], "after the first turn there are three left"
    assert last[2].endswith("Left: 2 actions, 18 tool calls.")


async def test_the_model_is_told_when_its_tool_calls_run_out() -> None:
    model = make_acting_model(*(write_act("search", f"tariff {number}") for number in range(9)))
    await search_subtask(model, limits=AgentLimits(max_turns=9, max_tool_calls=3))
    last = [request.messages[-1].content for request in model.requests if step_of(request) == "act"]
    assert last[1].endswith("Left: 8 actions, 2 tool calls.")


async def test_without_a_model_the_question_is_searched_once() -> None:
    corpus = SmallCorpus()
    found = await search_subtask(make_acting_model(ModelRefused("no credit")), corpus)
    assert corpus.queries == [SUBTASK.question]
    assert (found.stop, found.turns) == (StopReason.FAILED, 0)
    assert "no credit" in found.detail


async def test_a_model_whose_context_is_too_short_for_any_turn_still_has_the_question_searched() -> None:
    corpus = SmallCorpus()
    found = await search_subtask(make_acting_model(ContextTooLong("2048 tokens at most")), corpus)
    assert corpus.queries == [SUBTASK.question]
    assert (found.stop, found.detail) == (StopReason.MAX_TOKENS, "2048 tokens at most")
    assert found.quotes


async def test_a_model_that_fails_after_a_search_is_no_reason_to_search_again() -> None:
    corpus = SmallCorpus()
    found = await search_subtask(make_acting_model(write_act("search", "tariff of 1824"), ModelRefused("no credit")), corpus)
    assert corpus.queries == ["tariff of 1824"]
    assert (found.stop, found.turns) == (StopReason.FAILED, 1)


async def test_a_page_is_quoted_with_what_the_search_said_of_its_paper() -> None:
    class Papers(SmallCorpus):
        async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
            found = (await super().search(query, limit, where))[:1]
            said = {"title": "The tariff", "doi": "10.1000/1", "venue": "Annals", "retracted": True, "preprint": True}
            return [p.model_copy(update={"source": p.source.model_copy(update=said)}) for p in found]

        async def read(self, url: str) -> Document:
            known = await super().read(url)
            page = Source(url="https://publisher.example/1", title="publisher.example", snapshot=known.source.snapshot)
            return Document(source=page, text=known.text)

    rest = "Southern members answered that the duties fell upon the planter alone."
    acts = write_act("search", "tariff of 1824"), write_act("browse", "https://example.org/1824")
    model = make_acting_model(*acts, conclude=write_finding(("p2", rest), answer="It fell upon planters [p2]."))
    (quoted,) = (await search_subtask(model, Papers())).quotes
    source = quoted.source
    assert (source.url, source.title, source.published) == ("https://publisher.example/1", "The tariff", date(1824, 12, 1))
    assert (source.doi, source.venue, source.retracted, source.preprint) == ("10.1000/1", "Annals", True, True)
