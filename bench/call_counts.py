"""Counts calls of functions in this process, where a clock would measure the machine: a profile hook, set before the work begins."""

import dis
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

RESUME = dis.opmap["RESUME"]
AFTER_AWAIT = (2, 3)
"""What the instruction RESUME says where a coroutine goes on after it waited: how often depends on when answers come."""


class CallCounter:
    """The calls that own code makes, by function. `is_own` tells from the name of a file whether its code is counted.

    Counted is each call of an own function, and each call of a built-in one in it. That a coroutine goes on is no call.
    """

    def __init__(self, is_own: Callable[[str], bool]) -> None:
        self.counts: defaultdict[CodeType, int] = defaultdict(int)
        self._is_counted = cache(lambda code: is_own(code.co_filename))
        self._resumes = cache(_list_resumes)

    def start(self) -> None:
        """Count from now on, in this thread and in those that start later."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def stop(self) -> None:
        """Count no more."""
        sys.setprofile(None)
        threading.setprofile(None)

    @property
    def total(self) -> int:
        """All counted calls."""
        return sum(self.counts.values())

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call":
            if self._is_counted(code) and frame.f_lasti not in self._resumes(code):
                self.counts[code] += 1
        elif event == "c_call" and self._is_counted(code):
            self.counts[code] += 1


def _list_resumes(code: CodeType) -> frozenset[int]:
    """Return the places at which a coroutine goes on."""
    return frozenset(
        step.offset for step in dis.get_instructions(code) if step.opcode == RESUME and step.arg is not None and step.arg & 3 in AFTER_AWAIT
    )


def describe_function(code: CodeType, root: Path) -> str:
    """Name a function by its file and name."""
    return f"{Path(code.co_filename).relative_to(root)}:{code.co_qualname}"
