"""Each system, asked in tags and by a schema: scripted policies earn what was worked out for them by hand."""

import tomllib

import pytest

from app.domain.query import SystemName
from bench.transcript_policies import list_policies
from bench.transcripts import EXPECTED, expect_rewards, find_mismatches, measure_rewards, run_policy
from training.rewards.notations import Notation

VALUES = tomllib.loads(EXPECTED.read_text())
ASKED = [(system, notation) for system in SystemName for notation in Notation if (system, notation) != ("deeprubric", "schema")]


@pytest.mark.parametrize(("system", "notation"), ASKED)
async def test_rewards_are_those_worked_by_hand(system: SystemName, notation: Notation) -> None:
    for policy in list_policies():
        found = measure_rewards(system, notation, await run_policy(system, notation, policy))
        assert not [*find_mismatches(found, expect_rewards(VALUES, policy.name, system, notation))], policy.name


async def test_a_reward_that_differs_is_told() -> None:
    found = measure_rewards(
        SystemName.REACT, Notation.TAGS, await run_policy(SystemName.REACT, Notation.TAGS, list_policies()[0])
    )
    wrong = expect_rewards(VALUES, "chatter", SystemName.REACT, Notation.TAGS)
    assert [*find_mismatches(found, wrong)] == ["form is [0.1, 0.1, 0.1], by hand [-0.2, -0.2, -0.2]"]
