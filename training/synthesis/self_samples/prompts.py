"""The prompts that a policy is asked: the one writing call as it is served, of rows of report data and of recorded runs."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

from app.domain.chat import Message
from app.domain.query import Language
from app.domain.split import Split
from training.evaluation.benchmarks.files import read_json_lines
from training.rewards.notations import Notation
from training.synthesis.recorded_runs import RecordedRun, is_run, list_runs
from training.synthesis.report_data.recorded_report import (
    ReportTaskRow,
    find_notation,
    render_report_task,
)
from training.synthesis.report_data.run_task import read_run_task
from training.synthesis.training_set.folder import ROWS
from workflows.agents.kit import Kit
from workflows.prompts.library import PromptLibrary

OpenKit: TypeAlias = Callable[[Language], Kit]
"""Makes a kit by which runs are read; it is asked nothing."""


@dataclass(frozen=True, slots=True)
class SamplePrompt:
    """A served prompt with its evidence. `ids` are those of its passages; `asked_on` is the day that it names."""

    query: str
    language: Language
    topic: str
    messages: tuple[Message, ...]
    documents: tuple[str, ...]
    ids: tuple[str, ...]
    notation: Notation
    asked_on: date

    @property
    def id(self) -> str:
        """A hash of the messages."""
        said = "\n".join(message.model_dump_json() for message in self.messages)
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def read_prompts(path: Path, prompts: PromptLibrary, today: date, open_kit: OpenKit) -> Iterator[SamplePrompt]:
    """Yield the prompts of a run, of the training rows of a set of report data, or of a file of such rows.

    Reports that no model planned and wrote have none, and rows of the short form neither: they have no evidence. `today` stands
    for the day of rows that do not say theirs.

    Raises:
        InvalidInput: a file cannot be read, or a row is none of report data.
    """
    if is_run(path):
        yield from filter(None, (_read_run(run, prompts, open_kit) for run in list_runs([path], {})))
        return
    file = path / Split.TRAIN / ROWS if path.is_dir() else path
    yield from filter(None, read_json_lines(file, lambda row: read_row(row, prompts, today)))


def _read_run(run: RecordedRun, prompts: PromptLibrary, open_kit: OpenKit) -> SamplePrompt | None:
    question = run.question
    task = read_run_task(run, open_kit(question.language))
    if task is None or not task.retrieval:
        return None
    row = ReportTaskRow(
        **dict(task), query=question.text, language=question.language, topic=question.topic, documents=run.list_cited()
    )
    return make_prompt(row, prompts, run.manifest.today)


def read_row(row: Mapping[str, Any], prompts: PromptLibrary, today: date) -> SamplePrompt | None:
    """Read a row of report data; None for one without evidence, as in the short form.

    Raises:
        ValueError: it is no such row.
    """
    if "system_prompt" not in row:
        raise ValueError("it is no row of report-data: a policy is asked with the served prompt, which is made of such rows")
    read = ReportTaskRow.model_validate(row)
    return make_prompt(read, prompts, read.asked_on or today) if read.retrieval else None


def make_prompt(row: ReportTaskRow, prompts: PromptLibrary, asked_on: date) -> SamplePrompt:
    """Return the prompt of a row that has evidence."""
    return SamplePrompt(
        query=row.query,
        language=row.language,
        topic=row.topic,
        messages=render_report_task(prompts, row.language, row.query, row),
        documents=row.documents,
        ids=tuple(row.sources),
        notation=find_notation(row, row.language, prompts),
        asked_on=asked_on,
    )
