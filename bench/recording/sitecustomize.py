"""Tells which files of the project this process uses. Python runs it first, where `bench.recording.record` put it on the path.

A file of code counts when one of its functions runs; one that defines no function (constants, nouns) when it is imported. Any
other file counts when it is opened for reading, but for prompts: all are read together, and a released one is never edited. Each
is told at once, so a process that is killed has told what it used, and through a named pipe, because some children may not
write files.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType
from typing import Any

PIPE, ROOT = "BENCH_RECORDING_PIPE", "BENCH_RECORDING_ROOT"
HERE = os.path.dirname(os.path.abspath(__file__))
NO_FUNCTIONS = frozenset({"<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
CODE_AND_PROMPTS = (".py", ".pyc", ".md")
_pipe, _root = os.environ[PIPE], os.environ[ROOT]
_known: set[str] = set()
_start_process: Any = subprocess.Popen.__init__


def note_call(frame: FrameType, event: str, argument: Any) -> None:
    """Take in a call; it is the trace function of all threads, and asks for no lines."""
    code = frame.f_code
    if code.co_filename not in _known and (_is_function(code) or (code.co_name == "<module>" and not _defines_function(code))):
        _tell_once(code.co_filename)


def note_event(event: str, arguments: tuple[Any, ...]) -> None:
    """Take in an event of the interpreter, of which opening a file is one."""
    if event == "open":
        file, _, flags = arguments
        if isinstance(file, str) and not flags & (os.O_WRONLY | os.O_RDWR) and not file.endswith(CODE_AND_PROMPTS):
            _tell_once(file)


def start_recorded_process(
    process: "subprocess.Popen[Any]", *arguments: Any, env: Mapping[str, str] | None = None, **more: Any
) -> None:
    """Start a process as `subprocess.Popen` does; a child that gets few variables is recorded too."""
    _start_process(process, *arguments, env=None if env is None else {**env, **_carry(env)}, **more)


def _carry(env: Mapping[str, str]) -> dict[str, str]:
    paths = [path for path in env.get("PYTHONPATH", "").split(os.pathsep) if path not in {"", HERE}]
    return {PIPE: _pipe, ROOT: _root, "PYTHONPATH": os.pathsep.join([HERE, *paths])}


def _is_function(code: CodeType) -> bool:
    return bool(code.co_flags & CO_OPTIMIZED) and code.co_name not in NO_FUNCTIONS


def _defines_function(code: CodeType) -> bool:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return any(_is_function(each) or _defines_function(each) for each in inner)


def _tell_once(file: str) -> None:
    if file not in _known:
        _known.add(file)
        path = os.path.abspath(file)
        if path.startswith(_root + os.sep) and os.path.dirname(path) != HERE:
            _tell(os.path.relpath(path, _root))


def _tell(name: str) -> None:
    try:
        # Without O_NONBLOCK, a process that outlives the recording would wait here for a reader.
        pipe = os.open(_pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return
    os.set_blocking(pipe, True)
    os.write(pipe, f"{name}\n".encode())
    os.close(pipe)


subprocess.Popen.__init__ = start_recorded_process  # type: ignore[assignment,method-assign]
sys.addaudithook(note_event)
threading.settrace(note_call)
sys.settrace(note_call)
