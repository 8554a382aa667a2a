"""The set for Report-RL (MindDR 4.6), from the folders of `rubrica eval run`: each run gives a long row and a short one.

With sets of trajectories among the inputs, only runs that passed their tiers count, as in the paper.
Long: question, system prompt of the single pass, retrieval, outline, RACE rubric, reference report. Short: without retrieval and
outline, and with a reference that a model writes from the question and the rubric.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from app.domain.errors import AnswerInvalid, InvalidInput, ModelError
from app.domain.missing import Missing
from app.domain.race_rubric import RaceRubric
from training.evaluation.benchmarks.files import read_json_lines
from training.synthesis.asked_questions import read_questions
from training.synthesis.catalogue import SetKind
from training.synthesis.recorded_runs import RecordedRun, find_notation_of_runs, is_run, list_runs
from training.synthesis.report_data.recorded_report import RecordedReportTask
from training.synthesis.report_data.run_task import read_run_task
from training.synthesis.training_set.folder import REFUSED, ROWS, SetFolder
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from training.synthesis.workshop import Workshop
from workflows.agents.asker import Asker
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent, Record
from workflows.agents.reporting.outline import OutlineAnswer
from workflows.agents.steps import TextStep
from workflows.agents.untrusted import as_data
from workflows.checks.citation_format import find_citation_faults
from workflows.judging.race_generation import write_race_rubric

REFERENCE = TextStep("reference_report", max_tokens=8_000)
FEWEST_CHARS = 400
TRAJECTORIES = "trajectories"


class ReportForm(StrEnum):
    """The two forms of report data."""

    LONG = "long"
    SHORT = "short"


class ReportRow(RecordedReportTask):
    """A row as training reads it; `retrieval` and `outline` are empty in the short form."""

    form: ReportForm
    rubric: RaceRubric
    reference: str


@dataclass(frozen=True, slots=True)
class ReportCandidate:
    """A run in one of the two forms."""

    run: RecordedRun
    form: ReportForm

    @property
    def id(self) -> str:
        """The run's id, and the form."""
        return f"{self.run.id}/{self.form}"


def open_recipe(workshop: Workshop) -> SetRecipe[ReportCandidate]:
    """Return the recipe.

    Raises:
        InvalidInput: no folder of runs is among the inputs, or the text of a question is missing.
    """
    inputs = workshop.request.inputs
    runs = [path for path in inputs if is_run(path)]
    if not runs:
        raise InvalidInput("report data come from folders of `rubrica eval run`: give one with --input, and its questions")
    questions = read_questions([path for path in inputs if path not in runs])
    passed = read_passed_runs(inputs)
    found = (run for run in list_runs(runs, questions) if passed is None or run.id in passed)

    async def make_row(candidate: ReportCandidate, record: Record) -> KeptRow | RefusedCandidate:
        return await make_report_row(workshop.open_writer(record, candidate.run.question.language), candidate)

    return SetRecipe(
        _list_candidates(found),
        make_row,
        ask_query=lambda each: each.run.question.text,
        trained=("rubric", "reference"),
        notation=find_notation_of_runs(runs),
    )


def read_passed_runs(inputs: Sequence[Path]) -> frozenset[str] | None:
    """Return the ids of the runs that passed the three tiers (MindDR 4.4): the rows of sets of trajectories; None without any."""
    sets = [path for path in inputs if (path / REFUSED).exists() and SetFolder(path).read_manifest().origin.kind == TRAJECTORIES]
    files = [file for path in sets for file in path.glob(f"*/{ROWS}")]
    return frozenset(name for file in files for name in read_json_lines(file, lambda row: str(row["id"]))) if sets else None


def _list_candidates(runs: Iterable[RecordedRun]) -> Iterator[ReportCandidate]:
    return (ReportCandidate(run, form) for run in runs for form in ReportForm)


async def make_report_row(kit: Kit, candidate: ReportCandidate) -> KeptRow | RefusedCandidate:
    """Return the row, or why there is none."""
    run, task = candidate.run, read_run_task(candidate.run, kit)
    if task is None:
        return _refuse(candidate, "recorded", "the run has no outline with a title, or no text that a model wrote")
    if find_citation_faults(run.answer.text):
        return _refuse(candidate, "recorded", "the citations of the report are not in form")
    rubric = await write_race_rubric(kit, run.question.text)
    if isinstance(rubric, Missing):
        return _refuse(candidate, "rubric", rubric.reason)
    if candidate.form is ReportForm.LONG:
        return _keep(candidate, ReportRow(**dict(task), form=candidate.form, rubric=rubric, reference=run.answer.text))
    reference = await write_reference(kit, run.question.text, rubric)
    if isinstance(reference, Missing):
        return _refuse(candidate, "reference", reference.reason)
    short = task.model_copy(update={"retrieval": (), "outline": OutlineAnswer(), "background": ""})
    return _keep(candidate, ReportRow(**dict(short), form=candidate.form, rubric=rubric, reference=reference))


async def write_reference(kit: Kit, question: str, rubric: RaceRubric) -> str | Missing:
    """Write a reference report from the question and its criteria; missing where the model writes none that can be used."""
    messages = kit.prompts.get(REFERENCE.name, kit.language).render(
        question=as_data(question),
        criteria=as_data(format_criteria(rubric)),
        form=kit.codec.describe_form(REFERENCE, kit.prompts, kit.language),
    )
    try:
        return await Asker(kit, "synthesis/reference").write(REFERENCE, messages, _require_report)
    except (ModelError, BudgetSpent) as error:
        return Missing(str(error))


def format_criteria(rubric: RaceRubric) -> str:
    """Return the criteria with their weights, by dimension."""
    parts = []
    for dimension in rubric.counted:
        criteria = "\n".join(f"- ({c.weight:g}) {c.shown}" for c in rubric.criteria[dimension])
        parts.append(f"{dimension} ({rubric.weights[dimension]:g})\n{criteria}")
    return "\n\n".join(parts)


def _require_report(text: str) -> None:
    if len(text) < FEWEST_CHARS:
        raise AnswerInvalid(f"a reference report has at least {FEWEST_CHARS} characters")


def _keep(candidate: ReportCandidate, row: ReportRow) -> KeptRow:
    question = candidate.run.question
    return KeptRow(
        query=question.text,
        topic=question.topic or question.source,
        language=question.language,
        documents=candidate.run.list_cited(),
        data=row.model_dump(mode="json"),
        counts={"characters of the reference": len(row.reference), "retrieved passages": len(row.retrieval)},
    )


def _refuse(candidate: ReportCandidate, stage: str, reason: str) -> RefusedCandidate:
    return RefusedCandidate(stage=stage, reason=reason, data={"run": candidate.id, "query": candidate.run.question.text})


REPORT_DATA = SetKind(
    name="report-data",
    about="questions with rubric and reference report for Report-RL, long (with retrieval and outline) and short (MindDR 4.6)",
    open_recipe=open_recipe,
    options=frozenset(),
)
