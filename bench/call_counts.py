"""Counts calls of functions in this process by a profile hook, where a clock would measure the machine."""

import dis
import sys
import threading
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

RESUME = dis.opmap["RESUME"]
AFTER_AWAIT = (2, 3)
"""What the instruction RESUME says where a coroutine goes on after it waited: how often depends on when answers come."""


class CallCounter:
    """The calls that own code makes, by function. Own are the files whose names begin with one of `folders`.

    Counted is each call of an own function, and each call of a built-in one in it. That a coroutine goes on is no call.
    """

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.counts: defaultdict[CodeType, int] = defaultdict(int)
        self._folders = folders
        self._resumes: dict[CodeType, frozenset[int] | None] = {}

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
        if code not in self._resumes:
            self._resumes[code] = _list_resumes(code) if code.co_filename.startswith(self._folders) else None
        resumes = self._resumes[code]
        if resumes is not None and (event == "c_call" or (event == "call" and frame.f_lasti not in resumes)):
            self.counts[code] += 1


def _list_resumes(code: CodeType) -> frozenset[int]:
    """Return the places at which a coroutine goes on."""
    resumes = (step for step in dis.get_instructions(code) if step.opcode == RESUME)
    return frozenset(step.offset for step in resumes if (step.arg or 0) & 3 in AFTER_AWAIT)


def describe_function(code: CodeType, root: Path) -> str:
    """Name a function by its file and name."""
    return f"{Path(code.co_filename).relative_to(root)}:{code.co_qualname}"
