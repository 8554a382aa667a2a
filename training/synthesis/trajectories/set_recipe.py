"""The set of trajectories for supervised fine-tuning (MindDR 4.4), from the folders of `rubrica eval run`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.missing import Missing
from app.domain.trajectory import Trajectory
from app.domain.value import Value
from training.synthesis.asked_questions import GRAPH, HARD, PRODUCT, AskedQuestion, read_questions
from training.synthesis.catalogue import SetKind
from training.synthesis.recorded_runs import RecordedRun, find_notation_of_runs, is_run, list_runs
from training.synthesis.training_set.audit import ShownRow
from training.synthesis.training_set.mixture import Classes, Mixture
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate, WorkedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from training.synthesis.trajectories.call_patterns import CallPattern, classify_calls
from training.synthesis.trajectories.conversations import TrainedConversation, corrections_of, list_conversations
from training.synthesis.trajectories.lengthening import BASE, count_tokens, draw_length, find_reached_length, lengthen
from training.synthesis.trajectories.presets import PRESET, choose_runs
from training.synthesis.trajectories.tiers import (
    ADMISSION,
    APPROVAL,
    LEAST_SCORE,
    OF_APPROVAL,
    PROCESS,
    ReviewAnswer,
    TierRefusal,
    check_admission,
    check_approval,
    check_process,
    check_review,
    count_steps,
    review_trajectory,
)
from training.synthesis.workshop import AUDIT, Workshop
from workflows.agents.ports import Record

LENGTHS, MIXTURE, PAPER = "lengths", "mixture", "paper"
OPTIONS = frozenset({HARD, LENGTHS, MIXTURE, PRESET, AUDIT})
SOURCES: Mapping[str, float] = {GRAPH: 0.6, PRODUCT: 0.35, HARD: 0.05}
DIFFICULTIES: Mapping[str, float] = {"easy": 0.4, "medium": 0.35, "hard": 0.25}
COMPLEX: Mapping[str, float] = {"complex": 0.65, "simple": 0.35}
PATTERNS: Mapping[str, float] = dict.fromkeys(CallPattern, 1 / 3)
MIXTURES = (
    Mixture("source", SOURCES),
    Mixture("difficulty", DIFFICULTIES),
    Mixture("complexity", COMPLEX, binding=False),
    Mixture("pattern", PATTERNS, binding=False),
)
"""The paper's shares of sources and of difficulties (where the hops are known) are definite. It prioritizes complex ones, and
names call patterns without shares."""
COMPLEX_HOPS, COMPLEX_STEPS = 3, 8


class TrajectoryRow(Value):
    """A trajectory as training reads it. `length` is the context that its longest conversation reaches; 0: less than 32K."""

    system: str
    model: str
    source: str
    difficulty: str
    hops: int
    pattern: str
    steps: int
    complex: bool
    length: int
    tokens: int
    conversations: tuple[TrainedConversation, ...]
    report: str
    review: ReviewAnswer


def open_recipe(workshop: Workshop) -> SetRecipe[RecordedRun]:
    """Return the recipe.

    Raises:
        InvalidInput: no folder of runs is among the inputs, an option is unknown, or the text of a question is missing.
    """
    request = workshop.request
    asked = {name: request.options[name] for name in (LENGTHS, MIXTURE) if name in request.options}
    if any(value != PAPER for value in asked.values()):
        raise InvalidInput(f"trajectories takes {LENGTHS}={PAPER} and {MIXTURE}={PAPER}, or neither")
    runs = [path for path in request.inputs if is_run(path)]
    if not runs:
        raise InvalidInput("trajectories come from folders of `rubrica eval run`: give one with --input, and its questions")
    hard = [Path(path) for path in request.options.get(HARD, "").split(",") if path]
    questions = read_questions([path for path in request.inputs if path not in runs], hard)
    work = _TrajectoryWork(workshop, tuple(corrections_of(workshop.prompts)), LENGTHS in asked)
    recipe = SetRecipe(
        choose_runs(list_runs(runs, questions), request),
        work.make_row,
        count_figures,
        audit=workshop.open_audit(show_to_people),
        ask_query=lambda run: run.question.text,
        trained=("conversations", "report"),
        notation=find_notation_of_runs(runs),
    )
    return replace(recipe, mixtures=MIXTURES, classify=classify_run) if MIXTURE in asked else recipe


def classify_run(run: RecordedRun) -> Classes:
    """Return the classes of a run. Without known hops it has no difficulty."""
    question, trajectory = run.question, run.read_trajectory()
    complexity = "complex" if is_complex(question, count_steps(trajectory)) else "simple"
    pattern = classify_calls(trajectory)
    return {"source": question.source, "difficulty": question.difficulty, "complexity": complexity, "pattern": pattern}


def is_complex(question: AskedQuestion, steps: int) -> bool:
    """Say whether a trajectory is complex: by the hops of its question, or by its steps."""
    return question.hops >= COMPLEX_HOPS or steps >= COMPLEX_STEPS


def show_to_people(kept: KeptRow) -> ShownRow:
    """Return a question with its report. It just passed if each score of its approval is the least that is kept."""
    row = TrajectoryRow.model_validate(kept.data)
    scores = {name: getattr(row.review, name) for name in OF_APPROVAL}
    told = ", ".join(f"{name} {score} of 5" for name, score in scores.items())
    return ShownRow(f"{kept.query}\n\n{row.report}", told, row.hops, set(scores.values()) == {LEAST_SCORE})


def count_figures(worked: Sequence[WorkedCandidate]) -> dict[str, float]:
    """Return each tier's yield, the share of what came to it that it let pass; and how many passed of each class of a mixture."""
    fallen = Counter(each.refused.stage for each in worked if each.refused)
    left, figures = len(worked), dict[str, float]()
    for tier in (ADMISSION, PROCESS, APPROVAL):
        figures[f"yield of {tier}"] = 1 - fallen[tier] / left if left else 0.0
        left -= fallen[tier]
    kept = [each.kept for each in worked if each.kept]
    passed = Counter(f"passed: {name} {row.data[name]}" for row in kept for name in ("source", "difficulty", "pattern"))
    passed.update(f"passed: complexity {'complex' if row.data['complex'] else 'simple'}" for row in kept)
    return figures | {name: float(count) for name, count in sorted(passed.items())}


@dataclass(frozen=True, slots=True)
class _TrajectoryWork:
    """The making of rows. `lengths`: contexts are lengthened as the paper mixes them."""

    workshop: Workshop
    corrections: Sequence[str]
    lengths: bool

    async def make_row(self, run: RecordedRun, record: Record) -> KeptRow | RefusedCandidate:
        """Return the row, or the tier at which the trajectory fell out."""
        trajectory = run.read_trajectory()
        refused = check_admission(run, trajectory) or check_process(trajectory) or check_approval(run)
        if refused is not None:
            return _refuse(run, refused)
        review = await review_trajectory(self.workshop.open_verifier(record, run.question.language), run, trajectory)
        if isinstance(review, Missing):
            return _refuse(run, TierRefusal(APPROVAL, review.reason))
        if (low := check_review(review)) is not None:
            return _refuse(run, low)
        return self._keep(run, trajectory, review)

    def _keep(self, run: RecordedRun, trajectory: Trajectory, review: ReviewAnswer) -> KeptRow:
        question, steps = run.question, count_steps(trajectory)
        length = draw_length(run.id) if self.lengths else BASE
        conversations = list_conversations(trajectory, self.corrections)
        if length:
            conversations = [lengthen(each, length, question.language) for each in conversations]
        row = TrajectoryRow(
            system=run.manifest.system.name,
            model=run.model,
            source=question.source,
            difficulty=question.difficulty,
            hops=question.hops,
            pattern=classify_calls(trajectory),
            steps=steps,
            complex=is_complex(question, steps),
            length=find_reached_length(conversations),
            tokens=sum(map(count_tokens, conversations)),
            conversations=tuple(conversations),
            report=run.answer.text,
            review=review,
        )
        return KeptRow(
            query=question.text,
            topic=question.topic or question.source,
            language=question.language,
            documents=run.list_cited(),
            data=row.model_dump(mode="json"),
            counts={"steps": steps, "tokens": row.tokens, "hops": question.hops, "length": row.length},
        )


def _refuse(run: RecordedRun, refused: TierRefusal) -> RefusedCandidate:
    return RefusedCandidate(stage=refused.tier, reason=refused.reason, data={"run": run.id, "query": run.question.text})


TRAJECTORIES = SetKind(
    name="trajectories",
    about="recorded runs as conversations for supervised fine-tuning, filtered in three tiers (MindDR 4.4)",
    open_recipe=open_recipe,
    options=OPTIONS,
)
