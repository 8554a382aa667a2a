"""Two writers on a server: the holder makes faults in more than half of its reports, the candidate writes what a test tells."""

from collections.abc import Sequence

from tests.support.adapter_server import BASE, Speech
from tests.training.loop.exam_stage import DEEPER, PAID

SOUND = f"# Ashford\n\n{PAID[:-1]} [q1]. {DEEPER[:-1]} [q2]."
TABLE = "| what | value |\n| depth | four metres [q2] |\n| paid by | the state [q1] |\n"
FAULTY = f"# Ashford\n\n{PAID[:-1]} [q2]. {DEEPER[:-1]} [q2].\n\n{TABLE}"


def in_tags(report: str) -> str:
    return f"<think>so</think><answer>{report}</answer>"


def write_unevenly(model: str, messages: Sequence[str]) -> str:
    """The holder cites a wrong source, and writes a table without its rule, in more than half of the reports."""
    asked, _, _ = messages[-1].partition("\n</question>")
    return in_tags(SOUND if ord(asked[-2]) % 4 == 0 else FAULTY)


def let_candidate_write(report: str) -> Speech:
    return lambda model, messages: write_unevenly(model, messages) if model == BASE else in_tags(report)
