"""What a person sees of the rollouts: means of the parts of their rewards, some of them with their masks, and all in files."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import orjson
from transformers import TrainerCallback

from app.domain.missing import Missing
from training.folders import replace_file
from training.recipes.progress import REPORT_EVERY
from training.recipes.run_folder import ROLLOUTS, SAMPLES, TrainingFolder
from training.recipes.samples_page import ShownPiece, ShownSample, join_tokens, render_samples
from training.rollouts.groups import Group, GroupSource
from training.rollouts.nouns import Rollout, RolloutEnd, TrainingRow

LINE = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS
COUNTED = ("handed_over", "too_old", "too_many_missing", "no_spread", "given_up", "rewards_missing")


class WatchedGroups:
    """A source of groups that shows what comes through: as metrics of the next log, and as a page of rollouts.

    Each group is a line of `rollouts/<step>.jsonl`, by the step that was trained on it first. What a restart does again is
    dropped there.
    """

    def __init__(self, source: GroupSource, folder: TrainingFolder, tokenizer: Any, samples: int) -> None:
        self._source, self._folder, self._tokenizer, self._samples = source, folder, tokenizer, samples
        self._seen: list[Rollout] = []
        self._latest: Sequence[Group] = ()
        self._shown_at = float("-inf")
        for kept in (folder.path / ROLLOUTS).glob("*.jsonl"):
            if int(kept.stem) > folder.checkpoint_step:
                kept.unlink()

    def take_groups(self, count: int, policy_version: int) -> Sequence[Group]:
        """Pass on new groups."""
        groups = self._source.take_groups(count, policy_version)
        self._keep_groups(groups, policy_version + 1)
        return self._watch(groups)

    def save_state(self) -> Mapping[str, Any]:
        """Return the source's state."""
        return self._source.save_state()

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Let the source go on from a saved state."""
        self._source.load_state(state)

    def take_metrics(self) -> dict[str, float]:
        """Return the metrics of the groups since the last call, with the collector's counts so far."""
        seen, self._seen = self._seen, []
        counts = self._source.save_state().get("counts", {})
        return measure_rollouts(seen) | {f"collected/{name}": float(counts.get(name, 0)) for name in COUNTED}

    def keep_page(self, step: int) -> None:
        """Keep a page of the latest rollouts beside the checkpoint of this step."""
        self._write_page(f"samples-{step}.html")

    def _watch(self, groups: Sequence[Group]) -> Sequence[Group]:
        self._seen += [rollout for group in groups for rollout, _ in group]
        self._latest = groups
        if time.monotonic() - self._shown_at > REPORT_EVERY:
            self._shown_at = time.monotonic()
            self._write_page(SAMPLES)
        return groups

    def _write_page(self, name: str) -> None:
        pairs = [pair for group in self._latest for pair in group][: self._samples]
        shown = [show_rollout(rollout, rows, self._tokenizer) for rollout, rows in pairs]
        replace_file(self._folder.path / name, render_samples("Rollouts with their masks", shown).encode())

    def _keep_groups(self, groups: Sequence[Group], step: int) -> None:
        place = self._folder.path / ROLLOUTS / f"{step}.jsonl"
        place.parent.mkdir(exist_ok=True)
        with place.open("ab") as file:
            for group in groups:
                line = {"task": group[0][0].task, "rollouts": [describe_rollout(rollout) for rollout, _ in group]}
                file.write(orjson.dumps(line, option=LINE))


def measure_rollouts(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Return the mean of each part of the rewards, over the rollouts that have it, and the share of each end."""
    if not rollouts:
        return {}
    parts = dict.fromkeys(name for rollout in rollouts for name in rollout.reward.parts)
    values = {name: _list_values(rollouts, name) for name in parts}
    ends = Counter(rollout.end for rollout in rollouts)
    lengths = [
        sum(len(t.completion.sampled.completion_ids) for t in r.trajectory.turns if t.completion and t.completion.sampled)
        for r in rollouts
    ]
    return {
        **{f"part/{name}": fmean(found) for name, found in values.items() if found},
        **{f"ends/{end}": ends[end] / len(rollouts) for end in RolloutEnd},
        "sampled_tokens": fmean(lengths),
    }


def _list_values(rollouts: Sequence[Rollout], part: str) -> list[float]:
    said = (rollout.reward.parts.get(part) for rollout in rollouts)
    return [value for value in said if value is not None and not isinstance(value, Missing)]


def describe_rollout(rollout: Rollout) -> dict[str, Any]:
    """Return a rollout as its line has it: what the policy wrote turn by turn, what was delivered, the reward and the end."""
    turns = [(turn, turn.completion) for turn in rollout.trajectory.turns]
    return {
        "number": rollout.number,
        "end": rollout.end,
        "detail": rollout.detail,
        "reward": rollout.reward,
        "turns": [{"agent": turn.agent, "step": turn.step, "text": said.text} for turn, said in turns if said],
        "output": rollout.output,
    }


def show_rollout(rollout: Rollout, rows: Sequence[TrainingRow], tokenizer: Any) -> ShownSample:
    """Return a rollout as the page shows it: its rows one after the other."""
    reward, parts = rollout.reward, ", ".join(f"{name} {_tell(value)}" for name, value in rollout.reward.parts.items())
    about = (
        f"{rollout.end}; reward {_tell(reward.value)}"
        + (f" ({parts})" if parts else "")
        + (f"; {rollout.detail}" if rollout.detail else "")
    )
    pieces = [
        ShownPiece(tokenizer.decode(run), sampled, row.agent)
        for row in rows
        for run, sampled in join_tokens(row.ids, row.sampled)
    ]
    return ShownSample(f"{rollout.task}, sample {rollout.number}", about, pieces)


def _tell(value: float | Missing) -> str:
    return f"missing, {value.reason}" if isinstance(value, Missing) else f"{value:.3g}"


class WatchingCallback(TrainerCallback):  # type: ignore[misc]
    """Adds the metrics of the rollouts to what the trainer logs; it stands before the callback that keeps them."""

    def __init__(self, watched: WatchedGroups) -> None:
        self._watched = watched

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        """Add them. The summary at the end of training gets none."""
        if logs is not None and "train_runtime" not in logs:
            logs.update(self._watched.take_metrics())

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Keep some rollouts of this step as a page."""
        self._watched.keep_page(state.global_step)
