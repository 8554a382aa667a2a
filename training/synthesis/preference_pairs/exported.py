"""Readers' preferences (`rubrica preferences export`) as pairs: all choices between the same two reports are one pair."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from app.domain.errors import InvalidInput
from app.domain.query import ResearchQuery
from app.domain.split import Split
from app.domain.value import Value
from app.preferences.nouns.evidence import RunEvidence
from app.preferences.nouns.feedback import JudgedReport, PreferencePair, ShownSide, UndecidedPair
from app.preferences.service.training_export import Manifest
from training.evaluation.harness.manifest import digest_files
from training.evaluation.race_files import read_rows
from training.synthesis.preference_pairs.rows import SHOWN_LEFT, PairedReport, PairJudge, PreferenceRow, keep_pair
from training.synthesis.recorded_reports import ReportOrigin
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from workflows.judging.rubric_generation import list_parts

PAIRS, UNDECIDED, EVIDENCE, MANIFEST = "pairs.jsonl", "undecided.jsonl", "evidence.jsonl", "manifest.json"
READ = (PAIRS, UNDECIDED, EVIDENCE)
STAGE = "readers"


class ReaderVote(Value):
    """One reader's choice: the digest of the preferred report (empty: none of both), and whether that one stood left."""

    id: str
    preferred: str
    shown_left: bool


@dataclass(frozen=True, slots=True)
class ComparedReports:
    """Two reports that readers compared, with all votes. `told` is what they were written from, where it was exported."""

    query: ResearchQuery
    evidence: str
    reports: tuple[JudgedReport, JudgedReport]
    votes: tuple[ReaderVote, ...]
    export: str
    told: RunEvidence | None = None
    split: Split | None = None

    @property
    def id(self) -> str:
        """A hash of the reports, the votes and the evidence: with others of these it is another candidate."""
        said = [report.digest for report in self.reports] + [vote.model_dump_json() for vote in self.votes]
        said += [self.told.model_dump_json()] if self.told else []
        return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]

    def list_addresses(self) -> list[str]:
        """Return the addresses of what was found, each once; none where it was not exported."""
        findings = self.told.findings if self.told else ()
        return list(dict.fromkeys(quote.source.url for finding in findings for quote in finding.quotes))


def is_export(path: Path) -> bool:
    """Say whether a folder holds an export."""
    return (path / PAIRS).exists() and (path / MANIFEST).exists()


def read_manifest(path: Path) -> Manifest:
    """Read the manifest of an export whose files are as they were written.

    Raises:
        InvalidInput: the manifest cannot be read, or a file has other bytes than it says.
    """
    try:
        manifest = Manifest.of_any_version((path / MANIFEST).read_bytes())
    except ValueError as error:
        raise InvalidInput(f"{path / MANIFEST} cannot be read: {error}") from error
    written = {name: str(told["sha256"]) for name, told in manifest.files.items()}
    for file in (path / name for name in READ if (path / name).exists() or name in written):
        if not file.exists() or digest_files([file])[file.name] != written.get(file.name):
            raise InvalidInput(f"{file} is not as {path / MANIFEST} says; run `rubrica preferences export` into a new folder")
    return manifest


def read_evidence(export: Path) -> Mapping[str, RunEvidence]:
    """Read the evidence of an export by its pseudonyms; none where it was exported without.

    Raises:
        InvalidInput: a row cannot be read.
    """
    path = export / EVIDENCE
    try:
        found = map(RunEvidence.model_validate, read_rows(path)) if path.exists() else ()
        return {each.id: each for each in found}
    except ValidationError as error:
        raise InvalidInput(f"{path} is no evidence of an export: {error}") from error


def read_compared(path: Path) -> list[ComparedReports]:
    """Read the pairs of an export, in the order of its file."""
    found: dict[tuple[str, str], ComparedReports] = {}
    told = read_evidence(path)
    for query, evidence, reports, vote, named, split in _read_votes(path):
        first, second = sorted(reports, key=lambda report: report.digest)
        known = found.get((first.digest, second.digest))
        votes = (*known.votes, vote) if known else (vote,)
        found[first.digest, second.digest] = ComparedReports(
            query, evidence, (first, second), votes, path.resolve().name, told.get(named), split
        )
    return list(found.values())


def _read_votes(path: Path) -> Iterator[tuple[ResearchQuery, str, Sequence[JudgedReport], ReaderVote, str, Split | None]]:
    try:
        for pair in map(PreferencePair.of_any_version, read_rows(path / PAIRS)):
            left = pair.accepted_shown is ShownSide.LEFT
            vote = ReaderVote(id=pair.id, preferred=pair.accepted.digest, shown_left=left)
            yield pair.query, pair.evidence_digest, (pair.accepted, pair.rejected), vote, pair.evidence, pair.split
        for tie in map(UndecidedPair.of_any_version, read_rows(path / UNDECIDED)):
            vote = ReaderVote(id=tie.id, preferred="", shown_left=False)
            yield tie.query, tie.evidence_digest, tie.reports, vote, tie.evidence, tie.split
    except ValidationError as error:
        raise InvalidInput(f"{path} is no export of preferences: {error}") from error


def make_reader_row(compared: ComparedReports) -> KeptRow | RefusedCandidate:
    """Return the pair that more than half of all readers decide, ties and two bad reports counted."""
    first, second = compared.reports
    accepted, rejected = (first, second) if _count_votes(compared, first) >= _count_votes(compared, second) else (second, first)
    count = _count_votes(compared, accepted)
    if 2 * count <= len(compared.votes):
        data = {"votes": [vote.model_dump(mode="json") for vote in compared.votes], "export": compared.export}
        return RefusedCandidate(stage=STAGE, reason="no majority among its readers", data=data)
    query = compared.query
    row = PreferenceRow(
        accepted=_pair_judged(accepted, compared.export),
        rejected=_pair_judged(rejected, compared.export),
        judged_by=PairJudge.READERS,
        judge=compared.export,
        agreement=count / len(compared.votes),
        votes=len(compared.votes),
        pairs=tuple(vote.id for vote in compared.votes),
        parts=list_parts(compared.told.plan) if compared.told else (),
    )
    left = [vote.shown_left for vote in compared.votes if vote.preferred == accepted.digest]
    documents = (f"evidence:{compared.evidence}", *compared.list_addresses())
    counts = {SHOWN_LEFT: sum(left) / len(left)}
    kept = keep_pair(row, query.question, "", query.language, documents, counts)
    return kept.model_copy(update={"split": compared.split})


def _count_votes(compared: ComparedReports, report: JudgedReport) -> int:
    return sum(vote.preferred == report.digest for vote in compared.votes)


def _pair_judged(report: JudgedReport, export: str) -> PairedReport:
    lineage = report.lineage
    warmth = "" if lineage.temperature is None else f"temperature {lineage.temperature:g}"
    sampling = ", ".join(part for part in (warmth, lineage.arrangement) if part)
    origin = ReportOrigin(run=export, model=lineage.model or lineage.agents, system=lineage.system, sampling=sampling)
    return PairedReport(text=report.text, digest=report.digest, lineage=origin)
