"""The collector as the trainer's source of groups, each rollout with its training rows."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, Self, TypeAlias, TypeVar

from training.rollouts.collect import Collector
from training.rollouts.collector_state import CollectorState
from training.rollouts.collector_thread import CollectorThread
from training.rollouts.nouns import Rollout, TrainingRow

M = TypeVar("M")
OpenFromState: TypeAlias = Callable[[CollectorState], AbstractAsyncContextManager[Collector[M]]]
RolloutRows: TypeAlias = tuple[Rollout, Sequence[TrainingRow]]


class CollectedGroups(Generic[M]):
    """Groups that a collector brings. It starts with the first groups that are taken, and ends with the context.

    `give_weights` brings the trainer's weights to the sampler; it is called in the trainer's thread whenever the version has
    changed. The collector has sampled groups with missing rewards or without spread again already.
    """

    def __init__(
        self,
        open_collector: OpenFromState[M],
        make_rows: Callable[[Rollout], Sequence[TrainingRow]],
        give_weights: Callable[[int], None],
    ) -> None:
        self._open_collector, self._make_rows, self._give_weights = open_collector, make_rows, give_weights
        self._state = CollectorState()
        self._thread: CollectorThread[M] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._thread is not None:
            self._thread.__exit__(kind, error, at)

    def take_groups(self, count: int, policy_version: int) -> Sequence[Sequence[RolloutRows]]:
        """Return so many groups, by this version of the policy or one that is not too old; fewer when the tasks are over.

        Raises:
            CollectionFailed: see `Collector.next_batch`.
        """
        thread = self._start(policy_version)
        if policy_version != self._state.policy_version:
            self._give_weights(policy_version)
            thread.set_policy_version(policy_version)
        groups = thread.next_batch(count)
        self._state = thread.read_state()
        return [[(rollout, self._make_rows(rollout)) for rollout in group.rollouts] for group in groups]

    def save_state(self) -> Mapping[str, Any]:
        """Return the collector's state after the groups that were taken last, as JSON can hold it."""
        return self._state.model_dump(mode="json")

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state. No group may have been taken yet.

        Raises:
            RuntimeError: a group was taken.
        """
        if self._thread is not None:
            raise RuntimeError("the collector has begun; a state is loaded before the first groups are taken")
        self._state = CollectorState.of_any_version(state)

    def _start(self, policy_version: int) -> CollectorThread[M]:
        """Start the collector, with the weights of this version in the sampler."""
        if self._thread is None:
            self._give_weights(policy_version)
            self._state = self._state.model_copy(update={"policy_version": policy_version})
            state = self._state
            self._thread = CollectorThread(lambda: self._open_collector(state)).__enter__()
        return self._thread
