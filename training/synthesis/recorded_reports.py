"""Finished runs of `rubrica eval run` as material of training sets: which report answers which question, and who made it."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.domain.query import Language
from app.domain.value import Value
from training.evaluation.harness.example import BenchmarkAnswer
from training.evaluation.harness.manifest import SystemUsed
from training.synthesis.recorded_runs import RecordedRun, list_runs

DIGITS = 16
NO_MODEL = "none"


class ReportOrigin(Value):
    """The origin of a report. `digest` is that of its run's manifest.

    `sampling` has the effort, the way of writing, the temperature and the limits of the system.
    """

    run: str
    digest: str = ""
    item: str = ""
    model: str = ""
    system: str = ""
    sampling: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class RecordedReport:
    """A report that answers a question, and the run that wrote it."""

    origin: ReportOrigin
    run: RecordedRun

    @property
    def answer(self) -> BenchmarkAnswer:
        """What the run kept of it."""
        return self.run.answer

    @property
    def digest(self) -> str:
        """A hash of the text."""
        return hashlib.sha256(self.answer.text.encode()).hexdigest()[:DIGITS]

    @property
    def documents(self) -> tuple[str, ...]:
        """The addresses of everything that it rests on."""
        return self.run.list_cited()

    def read_page(self, address: str) -> str:
        """Read the stored text of a cited page; empty where none is stored."""
        name = self.answer.pages.get(address)
        return self.run.folder.read_page(name) if name else ""


@dataclass(frozen=True, slots=True)
class QuestionReports:
    """A question with all reports that answer it, in the order of their runs."""

    question: str
    language: Language
    domain: str
    reports: tuple[RecordedReport, ...]


def read_reports(paths: Sequence[Path]) -> list[RecordedReport]:
    """Read the reports of these runs.

    Raises:
        NotFound: a folder holds no run.
        InvalidInput: a folder is given twice, or answers were stored by a version that did not store the questions.
    """
    return [RecordedReport(_describe_origin(run), run) for run in list_runs(paths, {}) if run.answer.text]


def _describe_origin(run: RecordedRun) -> ReportOrigin:
    used = run.manifest.system
    return ReportOrigin(
        run=run.name,
        digest=hashlib.sha256(run.manifest.model_dump_json().encode()).hexdigest()[:DIGITS],
        item=f"{run.manifest.benchmark}/{run.answer.item}",
        model=run.model or NO_MODEL,
        system=used.name,
        sampling=_describe_sampling(used),
        seed=run.manifest.seed,
    )


def _describe_sampling(used: SystemUsed) -> str:
    warmth = "" if used.temperature is None else f"temperature {used.temperature:g}"
    caps = [f"{limit} {what}" for what, limit in used.caps.model_dump().items() if limit]
    return ", ".join(part for part in (used.effort, used.composition, warmth, *caps) if part)


def group_by_question(reports: Iterable[RecordedReport], seed: int) -> list[QuestionReports]:
    """Return the questions with their reports, drawn in an order that the seed decides."""
    groups: dict[str, list[RecordedReport]] = {}
    for report in reports:
        groups.setdefault(report.answer.question.strip(), []).append(report)
    drawn = sorted(groups, key=lambda question: hashlib.sha256(f"{seed} {question}".encode()).hexdigest())
    return [_describe_question(question, groups[question]) for question in drawn]


def _describe_question(question: str, reports: Sequence[RecordedReport]) -> QuestionReports:
    first = reports[0].answer
    domain = next((report.answer.domain for report in reports if report.answer.domain), "")
    return QuestionReports(question, first.language, domain, tuple(reports))
