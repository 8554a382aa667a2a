"""Recorded runs: what each system did and answered, from the folders of `rubrica eval run`, in a fixed order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.split import Split
from app.domain.trajectory import Trajectory
from app.settings import Codec as CodecName
from training.evaluation.benchmarks.graph_set import ALL
from training.evaluation.harness.example import BenchmarkAnswer, QuestionOrigin
from training.evaluation.harness.folder import MANIFEST, RunFolder
from training.evaluation.harness.manifest import RunManifest
from training.evaluation.harness.scores import ItemScores
from training.rewards.notations import Notation
from training.synthesis.asked_questions import PRODUCT, AskedQuestion
from workflows.agents.codec import SchemaCodec, StepCodec, TagCodec

MADE = (QuestionOrigin.GRAPH, QuestionOrigin.TREE)
HELD_OUT = (ALL, Split.VALIDATION, Split.TEST)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The work of one system on one question. `name` is that of the run; `scores` is None where nothing was judged."""

    name: str
    folder: RunFolder
    manifest: RunManifest
    question: AskedQuestion
    answer: BenchmarkAnswer
    scores: ItemScores | None

    @property
    def id(self) -> str:
        """The run's name and the question's id."""
        return f"{self.name}/{self.question.id}"

    @property
    def model(self) -> str:
        """The name of the model, empty where there was none."""
        return self.manifest.system.model.name if self.manifest.system.model else ""

    @property
    def codec(self) -> StepCodec:
        """The way in which its model was asked."""
        used = self.manifest.system.model
        return TagCodec() if used and used.codec == CodecName.TAGS else SchemaCodec()

    def list_cited(self) -> tuple[str, ...]:
        """Return the addresses of the documents that the answer cites."""
        quotes = self.answer.report.quotes if self.answer.report else ()
        return tuple(sorted({*self.answer.pages, *(quote.source.url for quote in quotes)}))

    def read_trajectory(self) -> Trajectory:
        """Read every turn."""
        return Trajectory(episode=self.id, turns=tuple(self.folder.read_turns(self.question.id)))


def find_notation_of_runs(paths: Sequence[Path]) -> Notation | None:
    """Return the notation in which the models of these runs were asked; None where there was no model.

    Raises:
        InvalidInput: some were asked in tags and some by a schema.
    """
    models = {path: RunFolder(path).read_manifest().system.model for path in paths}
    return require_one_notation({Notation(used.codec): str(path) for path, used in models.items() if used})


def require_one_notation(found: Mapping[Notation, str]) -> Notation | None:
    """Return the one notation; `found` tells for each where it was. None: there is none.

    Raises:
        InvalidInput: there are two.
    """
    if len(found) > 1:
        told = " and ".join(f"{where} in {notation}" for notation, where in sorted(found.items()))
        raise InvalidInput(f"a set has one notation, and these have two: {told}; make a set of each, or record one of them again")
    return next(iter(found), None)


def is_run(path: Path) -> bool:
    """Say whether a folder holds the run of a benchmark."""
    return (path / MANIFEST).exists() and (path / "answers.jsonl").exists()


def list_runs(paths: Sequence[Path], questions: Mapping[str, AskedQuestion]) -> Iterator[RecordedRun]:
    """Yield the finished runs of these folders, in the order of the folders and of their items.

    What `questions` knows of a question is added to what the run kept of it. The text is the one that was asked. A run has the
    name of its folder; where two folders have the same, the folder above is named too.

    Raises:
        NotFound: a folder holds no run.
        InvalidInput: a folder is given twice, a run answers what is held out of a set, or the text of a question is not known.
    """
    folders = [path.resolve() for path in paths]
    names = [path.name for path in folders]
    told = [name if names.count(name) == 1 else f"{path.parent.name}/{name}" for path, name in zip(folders, names, strict=True)]
    if len(set(told)) < len(told):
        raise InvalidInput("two folders of runs have the same name; rows could not be told apart")
    for path, name in zip(folders, told, strict=True):
        folder = RunFolder(path)
        manifest, answers, scores = folder.read_manifest(), folder.read_answers(), folder.read_scores()
        _require_training_questions(path, manifest)
        for item in manifest.items:
            if item in answers and not answers[item].failed:
                question = _describe_question(path, answers[item], manifest, questions.get(item))
                yield RecordedRun(name, folder, manifest, question, answers[item], scores.get(item))


def _require_training_questions(path: Path, manifest: RunManifest) -> None:
    """Refuse a run on validation or test questions of a made set: a policy that learned them could not be measured on them."""
    if manifest.questions in MADE and manifest.variant in HELD_OUT:
        raise InvalidInput(
            f"{path} answers questions that {manifest.benchmark} keeps for validation and test, and a training set must not have "
            f"them; record a run on the others with `rubrica eval run {manifest.benchmark} --variant {Split.TRAIN}`"
        )


def _describe_question(path: Path, answer: BenchmarkAnswer, manifest: RunManifest, known: AskedQuestion | None) -> AskedQuestion:
    text = answer.question or (known.text if known else "")
    if not text:
        raise InvalidInput(f"{path} answers {answer.item!r}: give the file that has its question with --input")
    told = known or AskedQuestion(
        id=answer.item, text=text, language=answer.language, source=PRODUCT, topic=answer.domain, hops=answer.hops
    )
    source = manifest.questions if told.source == PRODUCT and manifest.questions else told.source
    return told.model_copy(update={"text": text, "source": source})
