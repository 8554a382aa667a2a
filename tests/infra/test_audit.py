"""What the audit of packages says of what pip-audit found."""

import socket
from datetime import timedelta

import pytest

from infra.audit import SOUND, UNKNOWN, VULNERABLE, audit_lock, judge_packages
from infra.local.ports import find_free_port

SAFE = {"name": "a", "version": "1", "vulns": []}
BAD = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}, {"id": "PYSEC-2", "fix_versions": []}]}
SKIPPED = {"name": "c", "skip_reason": "not found"}


def test_only_what_was_looked_up_and_has_nothing_known_is_sound() -> None:
    assert judge_packages([SAFE]).status == SOUND
    found = judge_packages([SAFE, BAD, SKIPPED])
    assert found.status == VULNERABLE
    assert found.lines[:2] == ("b 2: PYSEC-1, fixed in 2.1", "b 2: PYSEC-2, fixed in no version yet")
    assert found.lines[2:] == ("nothing is known of 1: c", "2 of 3 packages looked up, 2 known vulnerabilities")
    assert judge_packages([SAFE, SKIPPED]).status == UNKNOWN


def test_a_registry_that_never_answers_is_not_waited_for_and_one_that_is_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_RETRIES", "0")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        found = audit_lock(timedelta(seconds=20))
    assert (found.status, found.lines) == (UNKNOWN, ("PyPI gave no whole answer within 0:00:20; nothing is known",))
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{find_free_port()}/simple")
    found = audit_lock(timedelta(minutes=10))
    assert (found.status, found.lines[-1]) == (UNKNOWN, "pip-audit cannot be installed; nothing is known")
