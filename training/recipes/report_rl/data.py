"""The tasks of Report-RL: a row of report data is a prompt, and what its reward needs (MDR 4.6, 5.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.chat import Message
from app.domain.errors import InvalidInput
from app.domain.race_rubric import RaceRubric
from app.domain.split import Split
from training.recipes.report_rl.config import ReportDataSection, Writer
from training.recipes.report_rl.drafts import count_reference_citations
from training.recipes.report_rl.section_writers import make_book
from training.recipes.training_data import read_rows, require_tags
from training.rewards.notations import Notation
from training.rollouts.nouns import Task
from training.synthesis.report_data.recorded_report import (
    RecordedReportTask,
    ReportTaskRow,
    find_notation,
    render_report_task,
)
from training.synthesis.report_data.set_recipe import ReportForm
from workflows.prompts.library import PromptLibrary


class ReportLine(ReportTaskRow):
    """What is read of a row."""

    form: ReportForm
    rubric: RaceRubric
    reference: str


FORMS = {"report-data": ReportLine}


@dataclass(frozen=True, slots=True)
class ReportMaterial:
    """What a report is written from, and what it is held against. `sources` are the quotes that its writer may cite, by id.

    `notation` is the one that the prompt asks for: the answer in tags, or nothing but the report.
    """

    form: ReportForm
    prompt: tuple[Message, ...]
    notation: Notation
    given: RecordedReportTask
    sources: Mapping[str, str]
    rubric: RaceRubric
    reference: str
    reference_citations: int


def read_tasks(section: ReportDataSection, writer: Writer, split: Split) -> list[Task[ReportMaterial]]:
    """Read a split's tasks.

    Raises:
        InvalidInput: the sets cannot be used, or have no row of the wanted form.
    """
    rows = [row for row in read_rows(section.sets, FORMS, split) if section.form in (row.form, "mixed")]
    require_tags(section.sets)
    if not rows and split is Split.TRAIN:
        raise InvalidInput(f"the sets have no rows of the {section.form} form")
    prompts = PromptLibrary.load()
    return [make_task(row, writer, prompts) for row in rows]


def make_task(row: ReportLine, writer: Writer, prompts: PromptLibrary) -> Task[ReportMaterial]:
    """Return the task of a row. Section writers are asked in tags, whatever the row's own prompt asks for."""
    sections = writer is Writer.SECTIONS
    material = ReportMaterial(
        form=row.form,
        prompt=render_report_task(prompts, row.language, row.query, row),
        notation=Notation.TAGS if sections else find_notation(row, row.language, prompts),
        given=row,
        sources=_list_sources(row, sections),
        rubric=row.rubric,
        reference=row.reference,
        reference_citations=count_reference_citations(row.reference),
    )
    return Task(row.id, row.query, row.language, material)


def count_forms(tasks: Sequence[Task[ReportMaterial]]) -> dict[str, int]:
    """Count the tasks of each form."""
    return {form: sum(task.material.form is form for task in tasks) for form in ReportForm}


def _list_sources(row: ReportLine, sections: bool) -> dict[str, str]:
    if sections:
        book = make_book(row)
        return {name: book[name].text for name in book.ids}
    return row.sources
