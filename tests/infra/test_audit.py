"""What the audit of packages says of what pip-audit found."""

from infra.audit import SOUND, UNKNOWN, VULNERABLE, judge_packages

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
