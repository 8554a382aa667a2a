"""The start of a run: read the data, choose the items, begin or continue the folder."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.domain.errors import InvalidInput
from app.domain.query import SystemName
from app.settings import Settings
from training.evaluation.benchmarks.catalogue import load_benchmark as benchmark_named
from training.evaluation.builder.publishing import holds_readers_questions
from training.evaluation.harness.caps import NO_CAPS
from training.evaluation.harness.evaluation_loop import Evaluation, EvaluationProgress
from training.evaluation.harness.example import AnyBenchmark, BenchmarkInput, Example, QuestionOrigin
from training.evaluation.harness.fleet import Deployment, open_fleet_answerer
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.manifest import RunManifest, digest_files
from training.evaluation.harness.parts import RunParts, open_run_parts
from training.evaluation.harness.run_request import RunRequest
from training.evaluation.harness.scores import ItemScores
from workflows.agents.effort import BOUNDS
from workflows.code_digest import digest_code
from workflows.judging.batch_record import BatchRecord

PACKAGES = ("app", "retrieval", "workflows", "training")


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """The result of a run."""

    manifest: RunManifest
    scores: Sequence[ItemScores]


async def run_benchmark(
    settings: Settings, wanted: RunRequest, told: Callable[[EvaluationProgress], None], deployment: Deployment | None = None
) -> FinishedRun:
    """Run the benchmark, or continue the folder's run where it stopped. A `deployment` runs the system where one is given.

    Raises:
        InvalidInput: the data, a variant or an item does not exist; or a limit is given that nothing here would apply.
        SetupError: a needed model or corpus is missing.
        Conflict: the folder holds another run, or another process works in it.
    """
    benchmark = benchmark_named(wanted.benchmark)
    variant = wanted.variant or benchmark.variants[0]
    if variant not in benchmark.variants:
        raise InvalidInput(f"{benchmark.name} has no variant {variant!r}; it has {', '.join(benchmark.variants)}")
    if (wanted.caps != NO_CAPS or wanted.temperature is not None) and (wanted.fleet or wanted.reports):
        raise InvalidInput(
            "a temperature or a limit holds a system that runs in this process; leave it out with --fleet or --reports"
        )
    if wanted.composition and (wanted.reports or wanted.system is not SystemName.MINDDR):
        raise InvalidInput("section writers and the single pass are ways of the system minddr; leave --writer out")
    if wanted.one_conversation and (wanted.reports or wanted.system is not SystemName.DEEPRUBRIC):
        raise InvalidInput("one conversation is a way of the system deeprubric; leave --one-conversation out")
    reading = BenchmarkInput(wanted.data, variant, wanted.reference)
    examples = choose_examples(benchmark.read(reading), wanted)
    async with open_run_parts(settings, wanted, benchmark, variant) as parts:
        return await _work_in_folder(parts, plan_run(parts, reading, examples), examples, told, deployment)


async def _work_in_folder(
    parts: RunParts,
    plan: RunManifest,
    examples: Sequence[Example[Any]],
    told: Callable[[EvaluationProgress], None],
    deployment: Deployment | None,
) -> FinishedRun:
    folder, wanted = RunFolder(parts.wanted.out), parts.wanted
    with folder.open_run(plan) as manifest:
        kept = folder.open_judge_answers()
        try:
            record = BatchRecord(kept, wanted.at_once)
            judging = parts.build_judging(record, manifest, folder)
            async with AsyncExitStack() as stack:
                if deployment is None:
                    answering = parts.build_answerer(manifest, folder)
                else:
                    asked = find_unanswered(examples, folder)
                    answering = await stack.enter_async_context(open_fleet_answerer(deployment, manifest, folder, wanted, asked))
                most = BOUNDS[wanted.effort].sections
                evaluation = Evaluation(parts.benchmark, examples, answering, judging, folder, wanted.at_once, told, most)
                return FinishedRun(manifest, await evaluation.work())
        finally:
            kept.close()


def find_unanswered(examples: Sequence[Example[Any]], folder: RunFolder) -> list[Example[Any]]:
    """Return the examples without an answer."""
    answered = {item for item, answer in folder.read_answers().items() if not answer.failed}
    return [example for example in examples if example.id not in answered]


def plan_run(parts: RunParts, reading: BenchmarkInput, examples: Sequence[Example[Any]]) -> RunManifest:
    """Make the manifest of a run that begins now."""
    now = datetime.now(UTC)
    return RunManifest(
        benchmark=parts.benchmark.name,
        variant=reading.variant,
        data=digest_files(parts.benchmark.files(reading)),
        items=tuple(example.id for example in examples),
        questions=find_origin(parts.benchmark, reading),
        seed=parts.wanted.seed,
        system=parts.describe_system(),
        judge=parts.describe_judge(examples, reading.variant),
        prompts=parts.prompts.digests,
        code=digest_code(PACKAGES),
        today=now.date(),
        started_at=now,
        demonstration=parts.wanted.demonstration,
    )


def find_origin(benchmark: AnyBenchmark, reading: BenchmarkInput) -> QuestionOrigin:
    """Return the origin of a run's questions. Those of readers are published in the form of a public benchmark."""
    return QuestionOrigin.READERS if holds_readers_questions(reading.data) else benchmark.questions


def choose_examples(examples: Sequence[Example[Any]], wanted: RunRequest) -> list[Example[Any]]:
    """Choose the examples to work, in the order of the data.

    Raises:
        InvalidInput: an id is unknown, or two examples share one, or nothing is left.
    """
    counts = Counter(example.id for example in examples)
    if twice := [item for item, count in counts.items() if count > 1]:
        raise InvalidInput(f"the data of {wanted.benchmark} have the id {twice[0]!r} twice; each item needs one of its own")
    known = counts.keys()
    if unknown := [item for item in wanted.ids if item not in known]:
        raise InvalidInput(f"{wanted.benchmark} has no item {unknown[0]!r}")
    usable = [e for e in examples if wanted.language in (None, e.language) and (not wanted.ids or e.id in wanted.ids)]
    if wanted.limit:
        drawn = {e.id for e in sorted(usable, key=lambda e: _draw_lot(wanted.seed, e.id))[: wanted.limit]}
        usable = [e for e in usable if e.id in drawn]
    if not usable:
        raise InvalidInput(f"nothing of {wanted.benchmark} is left to work; look at --language, --id and the data")
    return usable


def _draw_lot(seed: int, item: str) -> str:
    return hashlib.sha256(f"{seed}/{item}".encode()).hexdigest()
