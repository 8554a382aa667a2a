"""What agents and turns share stands first in their prompts, so that a server reads it once; what is not there takes no place."""

from dataclasses import replace
from itertools import takewhile

from app.domain.query import ResearchQuery
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.agents.scripted_search import PLAN, QUERY, make_acting_model, search_subtask, write_act
from workflows.agents.deep_search import render_opening
from workflows.agents.planning import make_plan
from workflows.chat_models.scripted import ScriptedModel


def share_start(texts: list[str]) -> str:
    return "".join(chars[0] for chars in takewhile(lambda chars: len({*chars}) == 1, zip(*texts, strict=False)))


def test_the_agents_of_a_plan_share_their_prompt_up_to_their_subtask() -> None:
    kit = make_kit(ScriptedModel([]), make_record())
    openings = ["".join(m.content for m in render_opening(subtask, PLAN, QUERY, kit)) for subtask in PLAN.subtasks]
    assert share_start(openings).endswith("Your subtask: ")


def test_runs_share_the_rules_whatever_their_day_and_tools() -> None:
    kit = make_kit(ScriptedModel([]), make_record())
    other = replace(kit, today=kit.today.replace(year=2031), tools=dict(list(kit.tools.items())[:1]))
    shared = share_start([render_opening(PLAN.subtasks[0], PLAN, QUERY, one)[0].content for one in (kit, other)])
    assert "Use only what the sources say" in shared


async def test_the_finding_is_told_that_the_form_of_actions_holds_no_longer() -> None:
    model = make_acting_model(write_act("search", "tariff of 1824"))
    await search_subtask(model)
    (closing,) = [r.messages[-1].content for r in model.requests if step_of(r) == "finding"]
    assert closing.index("holds no longer") < closing.index('"answer"')


async def test_an_empty_memory_takes_no_place_in_a_prompt() -> None:
    model = ScriptedModel(lambda _: "{}")
    await make_plan(ResearchQuery(question="Why were tariffs raised?"), make_kit(model, make_record()))
    for request in model.requests:
        assert request.messages[1].content == "The question:\nWhy were tariffs raised?"
