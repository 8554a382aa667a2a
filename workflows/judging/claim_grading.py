"""Grading a claim as the product does: by rules and, where it can read the claim, by the learned judge."""

from workflows.checks.grading import ClaimGrade, Evidence, PairReading, load_grader
from workflows.checks.nearness import TextVectors
from workflows.judging.pair_reader import can_read, load_pair_reader


def grade_claim(claim: str, evidence: Evidence, vectors: TextVectors | None = None) -> ClaimGrade:
    """Grade a claim against its evidence, which has at least one sentence. `vectors` must hold the claim."""
    return load_grader().grade(claim, evidence, vectors, read_pair(claim, evidence))


def read_pair(claim: str, evidence: Evidence) -> PairReading | None:
    """Return what the learned judge reads; None where there is none, or where it does not know the claim's language."""
    reader = load_pair_reader() if can_read(claim) else None
    return reader.read(claim, evidence) if reader else None
