"""What a run may spend, and when an agent must stop."""

import pytest
from pydantic import ValidationError

from app.domain.budget import LARGEST_CAP, AgentLimits, Budget, StopReason, Usage
from app.domain.value import Value

LEAST: dict[type[Value], int] = {Usage: 0, Budget: 1, AgentLimits: 1}


@pytest.mark.parametrize(("noun", "name"), [(noun, name) for noun in LEAST for name in noun.model_fields])
def test_a_limit_is_one_at_least_and_no_consumption_is_negative(noun: type[Value], name: str) -> None:
    least = LEAST[noun]
    assert getattr(noun.model_validate({name: least}), name) == least
    with pytest.raises(ValidationError):
        noun.model_validate({name: least - 1})


def test_an_agent_has_ten_turns_and_twenty_calls_unless_it_is_told_otherwise() -> None:
    assert (AgentLimits().max_turns, AgentLimits().max_tool_calls) == (10, 20)


@pytest.mark.parametrize("cap", Budget.model_fields)
def test_a_cap_is_no_number_that_readers_lose(cap: str) -> None:
    assert getattr(Budget.model_validate({cap: LARGEST_CAP}), cap) == LARGEST_CAP
    with pytest.raises(ValidationError):
        Budget.model_validate({cap: LARGEST_CAP + 1})


@pytest.mark.parametrize(
    ("budget", "used", "spent"),
    [
        (Budget(), Usage(input_tokens=10**9, cost_microusd=10**9), False),
        (Budget(max_tokens=100), Usage(input_tokens=60, output_tokens=39), False),
        (Budget(max_tokens=100), Usage(input_tokens=60, output_tokens=40), True),
        (Budget(max_cost_microusd=100), Usage(input_tokens=500, cost_microusd=99), False),
        (Budget(max_cost_microusd=100), Usage(cost_microusd=100), True),
        (Budget(max_tokens=100, max_cost_microusd=100), Usage(input_tokens=100, cost_microusd=1), True),
        (Budget(max_seconds=1), Usage(input_tokens=500), False),
    ],
)
def test_a_budget_is_spent_when_no_token_or_no_money_is_left(budget: Budget, used: Usage, spent: bool) -> None:
    assert budget.is_spent_by(used) is spent


def test_usages_add_up_field_by_field() -> None:
    one = Usage(model_calls=1, tool_calls=2, input_tokens=3, output_tokens=4, cost_microusd=5)
    assert one + one + Usage() == Usage(model_calls=2, tool_calls=4, input_tokens=6, output_tokens=8, cost_microusd=10)
    assert one.tokens == 7


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        ({"max_turns": 3}, StopReason.MAX_TURNS),
        ({"max_tool_calls": 5}, StopReason.MAX_TOOL_CALLS),
        ({"max_tokens": 70}, StopReason.MAX_TOKENS),
        ({"max_cost_microusd": 90}, StopReason.MAX_COST),
        ({"max_seconds": 11.0}, StopReason.MAX_TIME),
    ],
)
def test_an_agent_stops_when_a_limit_is_used_up_and_not_before(limits: dict[str, float], stop: StopReason) -> None:
    used = Usage(tool_calls=5, input_tokens=40, output_tokens=30, cost_microusd=90)
    assert AgentLimits.model_validate(limits).find_reached(3, used, 11.0) is stop
    roomier = {name: limit + 1 for name, limit in limits.items()}
    assert AgentLimits.model_validate(roomier).find_reached(3, used, 11.0) is None
