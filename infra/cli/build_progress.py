"""Tell a person how a build goes: its phase, its rate and the time left."""

from collections.abc import Callable
from datetime import timedelta
from time import monotonic
from typing import Any

from infra.cli.execute import command_name
from retrieval.store.catalogue import BuildPhase

REPORT_INTERVAL = timedelta(seconds=5)
FIRST_INDEX_S = (5, 30)
"""What a first run takes more than others: from its start to the word index of the default corpus and the encoder's weights, and
for the passages that have no vectors yet. 8 s with two quiet cores, up to 30 with busy ones."""
_NOUNS = {BuildPhase.READING: "documents", BuildPhase.INDEXING: "documents", BuildPhase.ENCODING: "passages"}


class BuildProgress:
    """A reporter of a build: it calls `say` when the phase changes, and every few seconds meanwhile."""

    def __init__(self, name: str, say: Callable[[str], None], clock: Callable[[], float] = monotonic) -> None:
        self.name = name
        self.say = say
        self._clock = clock
        self._phase = ""
        self._told_at = clock()

    def __call__(self, step: dict[str, Any]) -> None:
        """Take in the state of a build, and report it when that is due."""
        phase = str(step.get("phase", ""))
        if phase not in _NOUNS:
            return
        if phase != self._phase:
            self._phase, self._told_at = phase, self._clock()
            self.say(f"{self.name}: {phase}" + (", can be searched meanwhile" if phase == BuildPhase.ENCODING else ""))
        elif self._clock() - self._told_at >= REPORT_INTERVAL.total_seconds():
            self._told_at = self._clock()
            self.say(f"{self.name}: {phase} {describe_step(step)}")


def describe_step(step: dict[str, Any]) -> str:
    """Return how far a build's phase is, with its rate and the time left where they are known."""
    about = "about " if step["phase"] == BuildPhase.READING else ""
    total = f" of {about}{step['total']:,}" if step["total"] else ""
    parts = [f"{step['done']:,}{total} {_NOUNS[BuildPhase(step['phase'])]}"]
    if step.get("per_second"):
        parts.append(f"{step['per_second']:,}/s")
    if step.get("seconds_left") is not None:
        parts.append(f"about {format_duration(timedelta(seconds=step['seconds_left']))} left")
    return ", ".join(parts)


def explain_first_index(name: str, is_default: bool) -> str:
    """Return a message that a collection is being indexed, which a first search waits for; of the default corpus, how long."""
    low, high = FIRST_INDEX_S
    unknown = f"how long is not known yet, `{command_name()} corpus list` tells how far it is"
    takes = f"that takes {low} to {high} s more" if is_default else unknown
    return f"{name} is indexed first, once: {takes}"


def explain_words_only(name: str, step: dict[str, Any]) -> str:
    """Return a message that a collection has no vectors yet, and which commands make them."""
    done = f" ({step['done']:,} of {step['total']:,} passages encoded)" if step["total"] else ""
    return (
        f"{name} is searched by its words alone so far{done}: `{command_name()} corpus build {name}` encodes it, once, "
        f"and `{command_name()} up` does so while it runs; then it is searched by meaning too"
    )


def format_duration(time: timedelta) -> str:
    """Return a length of time in its two largest units."""
    minutes, seconds = divmod(round(time.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    units = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    first = next((place for place, (count, _) in enumerate(units) if count), len(units) - 1)
    return " ".join(f"{count} {unit}" for count, unit in units[first : first + 2] if count) or "0 s"
