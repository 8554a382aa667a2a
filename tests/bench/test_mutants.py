"""Mistakes are planted in a copy of a small tree; what its tests notice is counted."""

from datetime import timedelta
from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray", reason="make extras installs it")

from bench.known_mutants import KnownMutants, MutantOutcome
from bench.mutants import (
    CORE,
    CorePart,
    MutatedCore,
    TimeLimits,
    TreeCopy,
    count_figures,
    draw_mutations,
    read_core,
    try_mutations,
)
from bench.mutations import Mutation, list_mutations

pytestmark = pytest.mark.extra("cosmic-ray")
ROOT = Path(__file__).parents[2]
MODULE = '''
from dataclasses import dataclass, field

LIMIT = 3

@dataclass(frozen=True)
class Door:
    left: bool = field(default=False, init=False)

def may_enter(people: int) -> bool:
    """Whether there is room."""
    if people > LIMIT:
        return False
    while people < 0:
        people += 1
    return True
'''
TESTS = """
from room import may_enter

def test_enter():
    assert may_enter(1)
    assert may_enter(-2)
    assert not may_enter(9)
"""
MINUTE = timedelta(minutes=1)
LIMITS = TimeLimits(MINUTE, MINUTE)
OPERATORS = (
    "core/AddNot",
    "core/NumberReplacer",
    "core/ReplaceComparisonOperator_Gt_GtE",
    "core/ReplaceFalseWithTrue",
    "core/ReplaceTrueWithFalse",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "given"
    root.mkdir()
    (root / "room.py").write_text(MODULE)
    (root / "test_room.py").write_text(TESTS)
    (root / "test_nothing.py").write_text("")
    return root


@pytest.fixture
def core() -> MutatedCore:
    return MutatedCore(operators=OPERATORS, parts={"room": CorePart(modules=("*room.py",), tests=("test_room.py",))})


@pytest.fixture
def known(tmp_path: Path) -> KnownMutants:
    return KnownMutants(tmp_path / "known")


def mutation(operator: str, occurrence: int = 0) -> Mutation:
    return Mutation("room.py", 1, f"core/{operator}", occurrence)


def test_places_are_those_of_logic(tree: Path) -> None:
    found = {(each.operator, each.line) for each in list_mutations(tree, "room.py", OPERATORS)}
    assert ("core/AddNot", 12) in found
    assert ("core/ReplaceComparisonOperator_Gt_GtE", 12) in found
    assert ("core/ReplaceTrueWithFalse", 6) not in found, "a decorator"
    assert ("core/NumberReplacer", 4) not in found, "a constant of the module"
    falses = [each.line for each in list_mutations(tree, "room.py", ["core/ReplaceFalseWithTrue"])]
    assert falses == [8, 13], "a field's default and an answer, but not what callers may give"


def test_what_tests_notice_is_killed_and_the_tree_is_left_as_it_was(tree: Path, tmp_path: Path) -> None:
    copy = TreeCopy(tmp_path, tree)
    killed = copy.try_mutation(mutation("ReplaceFalseWithTrue", 2), ["test_room.py"], LIMITS)
    assert killed == (MutantOutcome.KILLED, "-        return False\n+        return True")
    survived, change = copy.try_mutation(mutation("ReplaceComparisonOperator_Gt_GtE"), ["test_room.py"], LIMITS)
    assert survived is MutantOutcome.SURVIVED
    assert change == "-    if people > LIMIT:\n+    if people >= LIMIT:"
    assert (tree / "room.py").read_text() == MODULE == (copy.root / "room.py").read_text()


@pytest.mark.parametrize("limits", [TimeLimits(MINUTE, timedelta(seconds=4)), TimeLimits(timedelta(seconds=4), MINUTE * 5)])
def test_a_mistake_that_never_ends_is_ended(tree: Path, tmp_path: Path, limits: TimeLimits) -> None:
    [never] = [each for each in list_mutations(tree, "room.py", ["core/AddNot"]) if each.line == 14]
    outcome, _ = TreeCopy(tmp_path, tree).try_mutation(never, ["test_room.py"], limits)
    assert outcome is MutantOutcome.TIMED_OUT


def test_survivors_are_printed_and_counted(
    tree: Path, tmp_path: Path, core: MutatedCore, known: KnownMutants, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = [("room", mutation("ReplaceTrueWithFalse", 1)), ("room", mutation("ReplaceComparisonOperator_Gt_GtE"))]
    counts = try_mutations(TreeCopy(tmp_path, tree), core, drawn, known)
    assert count_figures(counts) == {"mutants": 2, "killed_share": 0.5, "survived": 1, "timed_out": 0}
    told = capsys.readouterr().out
    assert "killed: room.py:1 core/ReplaceTrueWithFalse\ntest_room.py::test_enter\n" in told
    assert "survived: room.py:1 core/ReplaceComparisonOperator_Gt_GtE\n-    if people > LIMIT:" in told


def test_what_was_noticed_is_not_tried_again_until_its_module_changes(
    tree: Path, tmp_path: Path, core: MutatedCore, known: KnownMutants, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = TreeCopy(tmp_path, tree)
    drawn = [("room", mutation("ReplaceTrueWithFalse", 1)), ("room", mutation("ReplaceComparisonOperator_Gt_GtE"))]
    first = try_mutations(copy, core, drawn, known)
    capsys.readouterr()
    assert try_mutations(copy, core, drawn, known) == first
    told = capsys.readouterr().out
    assert "survived:" in told
    assert "killed:" not in told
    (copy.root / "room.py").write_text(MODULE.replace("LIMIT = 3", "LIMIT = 4"))
    assert try_mutations(copy, core, drawn, known) == first
    assert "killed:" in capsys.readouterr().out


def test_tests_that_fail_by_themselves_tell_nothing(tree: Path, tmp_path: Path, core: MutatedCore, known: KnownMutants) -> None:
    (tree / "test_room.py").write_text("def test_it():\n    assert False")
    with pytest.raises(RuntimeError, match="fail without a mistake"):
        try_mutations(TreeCopy(tmp_path, tree), core, [("room", mutation("AddNot"))], known)


def test_a_file_without_tests_is_refused(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no tests are in"):
        TreeCopy(tmp_path, tree).run_tests(["test_nothing.py"], LIMITS)


def test_mistakes_are_drawn_with_a_seed_and_in_turn_from_each_part() -> None:
    core = read_core(CORE)
    drawn = draw_mutations(ROOT, core, ["loop", "robots"], 20, 7)
    assert drawn == draw_mutations(ROOT, core, ["loop", "robots"], 20, 7)
    assert drawn != draw_mutations(ROOT, core, ["loop", "robots"], 20, 8)
    assert [part for part, _ in drawn] == ["loop", "robots"] * 10
    assert len(set(drawn)) == 20


def test_the_core_names_modules_and_tests_that_are_there() -> None:
    core = read_core(CORE)
    for name, part in core.parts.items():
        assert draw_mutations(ROOT, core, [name], 1, 1)
        assert all((ROOT / test.partition("::")[0]).exists() for test in part.tests)


def test_a_module_that_is_not_there_is_refused(core: MutatedCore, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no module matches"):
        draw_mutations(tmp_path, core, ["room"], 1, 1)
