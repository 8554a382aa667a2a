"""What a person sees of the rollouts: means of the parts of their rewards, their ends, and some of them with their masks."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from transformers import TrainerCallback

from app.domain.missing import Missing
from training.folders import replace_file
from training.recipes.progress import REPORT_EVERY
from training.recipes.run_folder import SAMPLES, TrainingFolder
from training.recipes.samples_page import ShownPiece, ShownSample, join_tokens, render_samples
from training.rollouts.groups import Group, GroupSource
from training.rollouts.nouns import Rollout, RolloutEnd, TrainingRow

COUNTED = ("handed_over", "too_old", "too_many_missing", "no_spread", "given_up", "rewards_missing")


class WatchedGroups:
    """A source of groups that shows what comes through: as metrics of the next log, and as a page of rollouts."""

    def __init__(self, source: GroupSource, folder: TrainingFolder, tokenizer: Any, samples: int) -> None:
        self._source, self._folder, self._tokenizer, self._samples = source, folder, tokenizer, samples
        self._seen: list[Rollout] = []
        self._shown_at = float("-inf")

    def take_groups(self, count: int, policy_version: int) -> Sequence[Group]:
        """Pass on new groups."""
        return self._watch(self._source.take_groups(count, policy_version))

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

    def _watch(self, groups: Sequence[Group]) -> Sequence[Group]:
        self._seen += [rollout for group in groups for rollout, _ in group]
        if time.monotonic() - self._shown_at > REPORT_EVERY:
            self._shown_at = time.monotonic()
            pairs = [pair for group in groups for pair in group][: self._samples]
            shown = [show_rollout(rollout, rows, self._tokenizer) for rollout, rows in pairs]
            replace_file(self._folder.path / SAMPLES, render_samples("Rollouts with their masks", shown).encode())
        return groups


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
