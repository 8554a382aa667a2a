"""The agents' own work stays small, however long the conversation.

Function calls are counted: a time would be the machine's.
"""

import cProfile
import json
import random
import re
from collections.abc import Sequence

from app.domain.budget import AgentLimits
from app.domain.chat import ChatRequest
from app.domain.evidence import Passage, Source, snapshot_hash
from retrieval.ports import SearchFilter
from tests.workflows.agent_kit import make_kit, make_record, run_chain, step_of
from tests.workflows.sensible_model import answer_sensibly
from tests.workflows.small_corpus import SmallCorpus
from workflows.chat_models.scripted import ScriptedModel

QUESTION = "How did presidents justify tariffs before 1900?"
SENTENCE = re.compile(r"In message \d+ the duty was defended before the house as a measure of protection\.")
MOST_FUNCTION_CALLS = 3_500
"""Per model call: a sixth more than it takes, so that a pass over everything that was seen would be noticed."""


class LargeCorpus(SmallCorpus):
    """Six new passages of some 1,200 characters for every query."""

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        dice = random.Random(query)
        return [_passage(dice.randrange(10**9)) for _ in range(6)]


def _passage(number: int) -> Passage:
    text = " ".join(
        f"In message {number + i} the duty was defended before the house as a measure of protection." for i in range(15)
    )
    source = Source(url=f"https://example.org/{number}", title=f"Message {number}", snapshot=snapshot_hash(text))
    return Passage(source=source, text=text, start=0, end=len(text))


def long_searches(request: ChatRequest) -> str:
    turn = (len(request.messages) - 2) // 2
    if step_of(request) == "act" and turn < 9:
        return json.dumps(
            {"thought": "more of it", "action": "search", "inputs": [f"duty {turn} {request.messages[1].content[-40:]}"]}
        )
    if step_of(request) == "finding":
        shown = next(found for message in request.messages if (found := SENTENCE.search(message.content)))
        return json.dumps({"answer": f"{shown.group()} [p1]", "passages": [], "gaps": [], "conflicts": []})
    return answer_sensibly(request)


async def test_work_per_model_call() -> None:
    record = make_record()
    limits = AgentLimits(max_turns=12, max_tool_calls=20)
    report = await run_chain(make_kit(ScriptedModel(long_searches), record, LargeCorpus(), limits=limits), record, QUESTION)
    calls = record.usage.model_calls
    assert calls > 35
    again = make_record(record.trajectory.turns)
    with cProfile.Profile() as profile:
        assert await run_chain(make_kit(ScriptedModel([]), again, limits=limits), again, QUESTION) == report
    made = sum(entry.callcount for entry in profile.getstats())
    assert made / calls < MOST_FUNCTION_CALLS
