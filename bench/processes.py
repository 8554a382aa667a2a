"""Measures CPU time and resident memory of process trees, as the kernel counts them (`/proc`)."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
MIB = 2**20


@dataclass(frozen=True)
class ProcessStat:
    """CPU seconds of one process, and of those of its children that ended and were waited for, with its parent."""

    parent: int
    cpu_s: float
    ended_children_cpu_s: float


def read_stat(pid: int, proc: Path = PROC) -> ProcessStat:
    """Read the kernel's account of a process. Raises FileNotFoundError or ProcessLookupError when there is none."""
    fields = (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
    user, system, children_user, children_system = (int(f) / TICKS_PER_SECOND for f in fields[11:15])
    return ProcessStat(parent=int(fields[1]), cpu_s=user + system, ended_children_cpu_s=children_user + children_system)


def find_tree(root: int) -> dict[int, ProcessStat]:
    """Return a process and all its living descendants; empty when it is gone."""
    every = dict(_list_processes())
    found = {root: every[root]} if root in every else {}
    grown = True
    while grown:
        below = {pid: s for pid, s in every.items() if s.parent in found and pid not in found}
        found |= below
        grown = bool(below)
    return found


def measure_cpu_s(root: int) -> float:
    """Return the CPU seconds used so far by a process, its living descendants and their ended, waited-for children."""
    return sum(s.cpu_s + s.ended_children_cpu_s for s in find_tree(root).values())


def measure_cpu_by_name(roots: Mapping[str, int]) -> dict[str, float]:
    """Return the CPU seconds of each named process tree."""
    return {name: measure_cpu_s(pid) for name, pid in roots.items()}


def measure_resident_mib(pid: int) -> float:
    """Return the resident set size of one process in MiB."""
    return int((PROC / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MIB


def read_load_average() -> float:
    """Return how many processes wanted a core, on average over the last minute: it tells whether the machine was quiet."""
    return os.getloadavg()[0]


def _list_processes() -> Iterator[tuple[int, ProcessStat]]:
    for entry in PROC.iterdir():
        if entry.name.isdecimal():
            try:
                yield int(entry.name), read_stat(int(entry.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
