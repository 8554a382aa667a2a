"""What a status of a service means for the calls that follow."""

from datetime import timedelta

import pytest

from retrieval.outside.failure import Failure
from retrieval.outside.http import failure_of


@pytest.mark.parametrize(
    ("status", "headers", "failure"),
    [
        (429, {}, Failure.RATE_LIMITED),
        (403, {"Retry-After": "30"}, Failure.RATE_LIMITED),
        (403, {}, Failure.DENIED),
        (401, {"Retry-After": "30"}, Failure.DENIED),
        (301, {}, Failure.DENIED),
        (399, {}, Failure.DENIED),
        (400, {}, Failure.REFUSED),
        (404, {}, Failure.REFUSED),
        (204, {}, Failure.REFUSED),
        (500, {}, Failure.UNAVAILABLE),
        (503, {"Retry-After": "30"}, Failure.UNAVAILABLE),
    ],
)
def test_a_status_says_whether_to_wait_to_stop_or_to_go_on(status: int, headers: dict[str, str], failure: Failure) -> None:
    found = failure_of(status, headers, b"<p>No.</p>")
    assert found.failure is failure
    assert f"status {status}: No." in str(found)
    waits = failure in (Failure.RATE_LIMITED, Failure.UNAVAILABLE) and headers
    assert found.retry_after == (timedelta(seconds=30) if waits else None)
