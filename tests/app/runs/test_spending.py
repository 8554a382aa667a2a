"""What a run's model calls were for, as a client of the API sees it."""

from uuid import UUID

import pytest

from app.domain.run import EventType
from app.runs.nouns import Purpose
from app.runs.storage.run_log import RunLog
from tests.app.served_api import ApiClient
from workflows.agents import actions, finding_quotes, follow_up, planning, react, second_round
from workflows.agents.markov import roles
from workflows.agents.reporting import consistency, critique, outline, report_revision, section_rewrite, sections, whole_prompt
from workflows.judging import criterion_judge, model_judge, rubric_generation

NOBODY = "7d1c3b1e-0c0c-4f4e-9d5a-3c8a5f0f6b11"
STEPS = {
    Purpose.PLANNING: (planning.INTENT, planning.PLAN, second_round.SECOND_ROUND, rubric_generation.RUBRIC),
    Purpose.READING: (
        actions.make_act_step(frozenset({"search"})),
        finding_quotes.FINDING,
        react.DIGEST,
        roles.MOVE,
        roles.STATE,
    ),
    Purpose.WRITING: (
        *(outline.OUTLINE, sections.SECTION, whole_prompt.WHOLE_REPORT, react.REPORT, roles.REPORT, roles.LAST),
        *(section_rewrite.REWRITE, follow_up.FOLLOW_UP),
    ),
    Purpose.REREADING: (critique.CRITIQUE, consistency.CONSISTENCY, report_revision.REVISION),
    Purpose.JUDGING: (model_judge.SUPPORT, criterion_judge.CRITERIA),
}


@pytest.mark.parametrize("purpose", STEPS)
def test_every_step_of_an_agent_or_a_judge_has_its_purpose(purpose: Purpose) -> None:
    """The log has the names of steps; the API has no other way to know them than this list."""
    assert {Purpose.of_step(step.name) for step in STEPS[purpose]} == {purpose}


async def test_the_tokens_of_a_run_are_told_by_purpose(api: ApiClient, run_log: RunLog) -> None:
    run_id = await api.ask("Why tariffs?")
    calls = (("intent", 100), ("act", 1_000), ("finding", 2_000), ("single_pass", 4_000), ("critique", 5_000), ("given_up", 7))
    for step, tokens in calls:
        told = {"step": step, "model": "m", "input_tokens": tokens, "output_tokens": 10, "cost_microusd": 3}
        await run_log.append_event(UUID(run_id), EventType.MODEL_CALL, "an agent", told)
    reply = await api.get(f"/v1/runs/{run_id}/usage")
    used = {item.pop("purpose"): item for item in reply.json["items"]}
    assert list(used) == ["planning", "reading", "writing", "rereading", "other"]
    assert used["reading"] == {"model_calls": 2, "input_tokens": 3_000, "output_tokens": 20, "cost_microusd": 6}
    assert sum(item["input_tokens"] for item in used.values()) == sum(tokens for _, tokens in calls)
    assert (await api.get(f"/v1/runs/{NOBODY}/usage")).is_problem(404)
