"""How long files take until they can be searched, from what this page's server has seen of the files before them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import streamlit as st

from rubrica_client.models import OwnDocument
from ui.components.markup import escape
from ui.facts import is_being_read
from ui.language import now, say
from ui.number_format import format_elapsed, format_size

AT_LEAST = timedelta(seconds=1)


@dataclass
class ReadingTimes:
    """The files under way, by their collections, and how many bytes the last ones had and how long they took."""

    under_way: dict[str, list[OwnDocument]] = field(default_factory=dict)
    size: int = 0
    took: timedelta = timedelta()

    def note(self, collection: str, files: Sequence[OwnDocument], at: datetime) -> None:
        """Take in the present state of a collection's files. Those that ended together are measured together."""
        reading = list(filter(is_being_read, files))
        known = {file.id: file for file in files}
        before = self.under_way.pop(collection, [])
        if reading:
            self.under_way[collection] = reading
        elif read := [file for file in before if file.id in known and known[file.id].state == "indexed"]:
            self.size = sum(file.bytes for file in read)
            self.took = max(at - min(file.received_at for file in read), AT_LEAST)

    def estimate(self, files: Sequence[OwnDocument], at: datetime) -> timedelta | None:
        """Return how long the files under way still take, by the rate of the last ones; None where nothing is known."""
        reading = list(filter(is_being_read, files))
        if not self.size or not reading:
            return None
        whole = sum(file.bytes for file in reading) / self.size * self.took
        return max(whole - (at - min(file.received_at for file in reading)), AT_LEAST)


@st.cache_resource
def _get_times() -> ReadingTimes:
    """Return the one that all visitors share: they share the machine."""
    return ReadingTimes()


def show(collection: str, files: Sequence[OwnDocument]) -> None:
    """Draw how long the files under way still take and what that rests on; nothing when all are read."""
    times, moment = _get_times(), now()
    times.note(collection, files, moment)
    if not any(map(is_being_read, files)):
        return
    left = times.estimate(files, moment)
    told = (
        say("reading.unknown")
        if left is None
        else say("reading.left", left=format_elapsed(left), size=format_size(times.size), took=format_elapsed(times.took))
    )
    st.html(f'<p class="r-quiet" role="status">{escape(told)}</p>')
