"""Look up the known vulnerabilities of the packages in `requirements.lock` (`make audit`).

pip-audit asks PyPI, in a scratch environment. A package of which PyPI has no data, or that cannot be looked up, does not pass:
it is listed as unknown. The audit ends within ten minutes; if PyPI has not answered by then, nothing is known.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

LOCK = Path(__file__).resolve().parent.parent / "requirements.lock"
PIP_AUDIT = "pip-audit==2.10.1"
SOUND, VULNERABLE, UNKNOWN = 0, 1, 3
VERDICTS = {SOUND: "no vulnerability is known", VULNERABLE: "vulnerable", UNKNOWN: "unknown"}
LIMIT = timedelta(minutes=10)


class AuditResult(NamedTuple):
    """The result of an audit: an exit status, and the lines to print."""

    status: int
    lines: tuple[str, ...]


def judge_packages(dependencies: Sequence[dict[str, Any]]) -> AuditResult:
    """Read pip-audit's JSON: packages with their `vulns`, or with the `skip_reason` why nothing is known of them."""
    found = [
        f"{package['name']} {package['version']}: {known['id']}, fixed in {', '.join(known['fix_versions']) or 'no version yet'}"
        for package in dependencies
        for known in package.get("vulns", ())
    ]
    skipped = [package["name"] for package in dependencies if "skip_reason" in package]
    summary = f"{len(dependencies) - len(skipped)} of {len(dependencies)} packages looked up, {len(found)} known vulnerabilities"
    unknown = (f"nothing is known of {len(skipped)}: {', '.join(skipped)}",) if skipped else ()
    status = VULNERABLE if found else UNKNOWN if skipped else SOUND
    return AuditResult(status, (*found, *unknown, summary))


def main() -> int:
    """Audit the lock file. Return 0 when no vulnerability is known, 1 when one is, 3 when not all packages could be looked up."""
    found = audit_lock(LIMIT)
    print("\n".join((*found.lines, f"verdict: {VERDICTS[found.status]}")))
    return found.status


def audit_lock(limit: timedelta) -> AuditResult:
    """Return what is known of the locked packages when `limit` is over, at the latest."""
    end = time.monotonic() + limit.total_seconds()
    with tempfile.TemporaryDirectory() as scratch:
        python = f"{scratch}/bin/python"
        install = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", PIP_AUDIT]
        lock = ["--requirement", str(LOCK), "--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
        try:
            for command in ([sys.executable, "-m", "venv", scratch], install):
                _run(command, end).check_returncode()
            done = _run([python, "-m", "pip_audit", *lock], end)
        except subprocess.TimeoutExpired:
            return AuditResult(UNKNOWN, (f"PyPI gave no whole answer within {limit}; nothing is known",))
        except subprocess.CalledProcessError as error:
            return AuditResult(UNKNOWN, (error.stderr.strip()[-2_000:], "pip-audit cannot be installed; nothing is known"))
    try:
        return judge_packages(json.loads(done.stdout)["dependencies"])
    except (ValueError, KeyError):
        return AuditResult(UNKNOWN, (done.stderr.strip()[-2_000:], "pip-audit gave no answer; nothing is known"))


def _run(command: Sequence[str], end: float) -> subprocess.CompletedProcess[str]:
    """Run a command until `end`, on the monotonic clock."""
    left = max(0.1, end - time.monotonic())
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=left)


if __name__ == "__main__":
    sys.exit(main())
