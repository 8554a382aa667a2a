"""Asks git about a measured commit: whether it is in the history, and whether code has changed since."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from bench.result import CHANGED


class HistoryMissing(Exception):
    """An error: the checkout has no git, or only a part of the history."""


class History:
    """The history behind `HEAD` of a full checkout.

    Raises:
        HistoryMissing: the folder is no checkout, git is not installed, or the checkout is shallow.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        try:
            shallow = self._git("rev-parse", "--is-shallow-repository")
        except OSError as error:
            raise HistoryMissing(f"git cannot be run: {error}") from error
        if shallow.returncode != 0:
            raise HistoryMissing("this folder is no git checkout")
        if shallow.stdout.strip() == "true":
            raise HistoryMissing("this checkout is shallow: `git fetch --unshallow` brings the history")

    def knows(self, commit: str) -> bool:
        """Tell whether `HEAD` comes from this commit. Code that was never committed is not known either."""
        if commit.endswith(CHANGED):
            return False
        return self._git("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0

    def has_changed_since(self, commit: str, paths: Iterable[str]) -> bool:
        """Tell whether a later commit touches one of the paths."""
        found = self._git("log", "-1", "--format=%h", f"{commit}..HEAD", "--", *paths)
        found.check_returncode()
        return bool(found.stdout)

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", str(self._root), *arguments], capture_output=True, text=True)
