"""A plan of a gate: what it proves by default, and what is refused."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from tests.training.loop.gate_folder import PLAN, make_plan
from training.loop.gates.plan import ProofKind, read_plan


def test_the_usual_margins_are_two_points_and_a_tenth_of_the_cost(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(PLAN)
    first, *others = read_plan(tmp_path / "gate.toml").list_proofs()
    assert (first.metric, first.kind, first.margin, first.expected) == ("report_quality", ProofKind.SUPERIORITY, 0.0, 0.05)
    assert {proof.metric: (proof.margin, proof.relative, proof.lower_is_better) for proof in others} == {
        "preference_accuracy": (0.02, False, False),
        "search_accuracy": (0.02, False, False),
        "citation_support": (0.02, False, False),
        "cost": (0.1, True, True),
        "probe/padded": (0.02, False, True),
    }


def test_what_a_role_cannot_move_is_not_asked_for(tmp_path: Path) -> None:
    """A generator of rubrics does not search, and writes no citations."""
    (tmp_path / "gate.toml").write_text('untouched = ["search_accuracy", "citation_support"]\n' + PLAN)
    proofs = {proof.metric for proof in read_plan(tmp_path / "gate.toml").list_proofs()}
    assert proofs == {"report_quality", "preference_accuracy", "cost", "probe/padded"}


def test_the_one_superiority_is_asked_for_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text('untouched = ["report_quality"]\n' + PLAN)
    with pytest.raises(InvalidInput, match="cannot move"):
        read_plan(tmp_path / "gate.toml")


def test_a_cycle_says_itself_when_it_began(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(PLAN)
    began = datetime(2027, 1, 1, tzinfo=UTC)
    assert read_plan(tmp_path / "gate.toml", began).cycle_starts == began
    with pytest.raises(InvalidInput, match="margins come first"):
        read_plan(tmp_path / "gate.toml", datetime(2026, 1, 1, tzinfo=UTC))


def test_all_five_probes_are_asked_for_unless_the_plan_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(PLAN.replace('probes = ["padded"]', ""))
    probes = [proof.metric for proof in read_plan(tmp_path / "gate.toml").list_proofs() if proof.kind is ProofKind.NO_GAIN]
    assert probes == [
        f"probe/{name}" for name in ("padded", "keyword_stuffed", "rubric_echo", "citation_stuffed", "judge_addressing")
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('reward_judge = "another"', 'reward_judge = " One"', "three different"),
        ('set_maker = "a third"', 'set_maker = "another"', "three different"),
        ("2026-11-02T00:00:00Z", "2026-10-30T00:00:00Z", "margins come first"),
        ("gain = 0.05", "gain = 0", "superiority.gain"),
        ("gain = 0.05", "gain = 0.05\nsecond = 1", "superiority.second"),
        ("probes", "probe", "probe"),
        ("probes = ", "probes = = ", "no TOML"),
    ],
)
def test_a_plan_that_cannot_be_used_says_why(tmp_path: Path, old: str, new: str, told: str) -> None:
    (tmp_path / "gate.toml").write_text(PLAN.replace(old, new))
    with pytest.raises(InvalidInput, match=told):
        read_plan(tmp_path / "gate.toml")


def test_a_missing_plan_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"gate\.toml"):
        read_plan(tmp_path / "gate.toml")


def test_looks_share_the_level() -> None:
    assert make_plan(looks=2).level == pytest.approx(0.025)
