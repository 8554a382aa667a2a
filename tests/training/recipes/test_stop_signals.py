"""A run heeds the signals that whoever started it wants heeded."""

import os
import signal
from collections.abc import Iterator

import pytest

from training.recipes.stop_signals import watch_signals


@pytest.fixture(params=[signal.SIG_IGN, signal.default_int_handler])
def before(request: pytest.FixtureRequest) -> Iterator[object]:
    """What the process did at Ctrl-C before the run."""
    kept = signal.signal(signal.SIGINT, request.param)
    yield request.param
    signal.signal(signal.SIGINT, kept)


def test_ctrl_c_is_heeded_unless_it_was_ignored_before(before: object) -> None:
    with watch_signals() as request:
        os.kill(os.getpid(), signal.SIGINT)
        assert request.received == (None if before is signal.SIG_IGN else signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
