"""Writes folders of evaluation runs with small reports, as `rubrica eval run` leaves them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

from app.domain.claims import Claim, Support
from app.domain.evidence import Quote, Source, snapshot_hash
from app.domain.query import Language
from app.domain.report import Report, Section
from training.evaluation.harness.answering import render_plain
from training.evaluation.harness.example import BenchmarkAnswer
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.manifest import JudgeUsed, ModelUsed, RunManifest, SystemUsed

TODAY = date(2026, 11, 2)
PAGE = (
    "The harbour of Ashford was deepened by four metres in 1902. Most of the money came from the state. "
    "The rock was hard, and the work took three years. The council had asked for it since 1890."
)
SOURCE = Source(url="https://ports.example/ashford", title="Ashford", snapshot=snapshot_hash(PAGE))
SENTENCES = ("The harbour of Ashford was deepened by four metres in 1902.", "Most of the money came from the state.")


def make_quote(text: str, source: Source = SOURCE, page: str = PAGE) -> Quote:
    start = max(0, page.find(text))
    return Quote(source=source, text=text, start=start, end=start + len(text))


QUOTES = tuple(make_quote(sentence) for sentence in SENTENCES)


def make_report(text: str, quotes: tuple[Quote, ...] = QUOTES, against: str = "") -> Report:
    """A report of one section; `{0}` and `{1}` cite the quotes. `against` is a claim that its evidence contradicts."""
    body = text.format(*(f"[[{quote.key}]]" for quote in quotes))
    claim = Claim(text=against, section=0, start=0, end=1, support=Support.CONTRADICTED)
    return Report(
        title="Ashford", sections=(Section(heading="Its harbour", body=body),), quotes=quotes, claims=(claim,) if against else ()
    )


def answer_with(report: Report | str, item: str, question: str, folder: RunFolder, page: str = PAGE) -> BenchmarkAnswer:
    written = report if isinstance(report, Report) else None
    return BenchmarkAnswer(
        item=item,
        question=question,
        language=Language.ENGLISH,
        domain="History",
        text=render_plain(written) if written else str(report),
        report=written,
        pages={SOURCE.url: folder.keep_page(page)} if written else {},
    )


def write_run(
    path: Path, model: str, system: str, temperature: float | None, answers: Mapping[str, Report | str], page: str = PAGE
) -> Path:
    """Write a run that answers these questions."""
    folder = RunFolder(path)
    with folder.open_run(describe_run(model, system, temperature, answers)):
        for number, (question, report) in enumerate(answers.items()):
            folder.keep_answer(answer_with(report, str(number), question, folder, page))
    return path


def describe_run(model: str, system: str, temperature: float | None, questions: Iterable[str]) -> RunManifest:
    return RunManifest(
        benchmark="drb-race",
        data={},
        items=tuple(str(number) for number, _ in enumerate(questions)),
        system=SystemUsed(name=system, effort="quick", model=ModelUsed(name=model, codec="schema"), temperature=temperature),
        judge=JudgeUsed(),
        today=TODAY,
        started_at=datetime(2026, 11, 2, tzinfo=UTC),
    )
