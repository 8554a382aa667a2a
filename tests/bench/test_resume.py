"""The bench of kills: what a kill had redone, and figures that add up."""

from pathlib import Path

from bench.result import add_figures
from bench.resume import LARGEST, count_steps
from training.recipes.run_folder import TrainingFolder


def test_what_was_logged_and_is_in_no_whole_checkpoint_is_redone(tmp_path: Path) -> None:
    folder = TrainingFolder(tmp_path)
    for step in (0, 1, 2, 3):
        folder.keep_metrics(step, {"loss": 1.0})
    for step, state in ((1, "{}"), (2, '{"global_st')):
        place = tmp_path / "checkpoints" / f"checkpoint-{step}"
        place.mkdir(parents=True)
        (place / "trainer_state.json").write_text(state)
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4')
    assert count_steps(tmp_path) == (3, 1)


def test_pieces_add_up_and_the_worst_kill_counts(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.txt"
    earlier.write_text('self_sft: ...\n{"bench": "resume", "figures": {"recipes": 1, "kills": 10, "steps_redone": 1}}\n')
    figures = {"recipes": 2, "kills": 20, "steps_redone": 0}
    assert add_figures(figures, earlier, LARGEST) == {"recipes": 3, "kills": 30, "steps_redone": 1}
