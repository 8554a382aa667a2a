"""The page of `make loop-demo`: what a cycle left, also of one that ended early."""

from pathlib import Path

from bench.loop.demo import REFUSED, copy_pages, render_index
from bench.loop.story import Story

GATE = "# Gate: refused\n\n| metric | verdict |\n|---|---|\n| cost | refused |\n"


def make_story(cycle: Path) -> Story:
    moves, canaries = [("10:00", "base → rubric-v2", "cycle", "passed")], [("09:58", "09:59", "50%", "promoted: passed")]
    versions = [("rubric-v2", "retired", "09:50")]
    return Story([0.25], [0.75], 0.5, 3.0, cycle, "base", None, False, moves, versions, canaries)


def test_the_page_shows_scores_and_the_gates_table(tmp_path: Path) -> None:
    cycle, out = tmp_path / "cycle", tmp_path / "out"
    (cycle / "rubric.gate").mkdir(parents=True)
    (cycle / "rubric.gate/gate.md").write_text(GATE)
    out.mkdir()
    copy_pages(cycle, out)
    page = render_index(make_story(cycle), out)
    for told in ("<td>25%</td>", "<td>75%</td>", "<td>cost</td>", 'href="gate.md"'):
        assert told in page
    assert "checks.html" not in page


def test_a_cycle_without_a_gate_has_a_page_too(tmp_path: Path) -> None:
    copy_pages(tmp_path / "cycle", tmp_path)
    page = render_index(make_story(tmp_path / "cycle"), tmp_path)
    assert "No gate was reached." in page
    assert "gate.md" not in page


def test_the_page_tells_the_moves_the_canary_and_who_was_refused(tmp_path: Path) -> None:
    (tmp_path / REFUSED).parent.mkdir(parents=True)
    (tmp_path / REFUSED).write_text("# Gate: refused\n\n## The worst items\n\nquestion 7\n")
    page = render_index(make_story(tmp_path / "cycle"), tmp_path)
    for told in (
        "<td>base → rubric-v2</td>",
        "<td>promoted: passed</td>",
        "<td>retired</td>",
        "A spoiled candidate, refused",
        "question 7",
    ):
        assert told in page
