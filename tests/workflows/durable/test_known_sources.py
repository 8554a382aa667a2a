"""What a worker may take for stored without asking."""

import time

import pytest

from workflows.durable.known_sources import KNOWN_FOR, KnownSources


def test_what_was_asked_for_lately_is_known_and_later_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    known, now = KnownSources(), time.monotonic()
    known.note(["a"])
    assert known.list_unknown(["a", "b"]) == ["b"]
    monkeypatch.setattr(time, "monotonic", lambda: now + KNOWN_FOR.total_seconds() + 60)
    assert known.list_unknown(["a", "b"]) == ["a", "b"]
    known.note(["a"])
    assert known.list_unknown(["a", "b"]) == ["b"]
