"""The start of a run: read the data, choose the items, begin or continue the folder."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.domain.errors import InvalidInput
from app.settings import Settings
from training.evaluation.benchmarks.catalogue import benchmark as benchmark_named
from training.evaluation.harness.caps import NO_CAPS
from training.evaluation.harness.example import Example, Reading
from training.evaluation.harness.fleet import Deployment, by_fleet
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.manifest import Manifest, file_digests
from training.evaluation.harness.parts import Parts, parts_of
from training.evaluation.harness.running import Evaluation, Progress
from training.evaluation.harness.scores import Scores
from training.evaluation.harness.wanted import Wanted
from workflows.agents.effort import BOUNDS
from workflows.code_digest import code_digest
from workflows.judging.batch import BatchRecord

PACKAGES = ("app", "retrieval", "workflows", "training")


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a run."""

    manifest: Manifest
    scores: Sequence[Scores]


async def run(settings: Settings, wanted: Wanted, told: Callable[[Progress], None], deployment: Deployment | None = None) -> Ran:
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
    if wanted.caps != NO_CAPS and (wanted.fleet or wanted.reports):
        raise InvalidInput(
            "a call or context limit holds a system that runs in this process; leave it out with --fleet or --reports"
        )
    reading = Reading(wanted.data, variant, wanted.reference)
    examples = chosen(benchmark.read(reading), wanted)
    async with parts_of(settings, wanted, benchmark, variant) as parts:
        return await _worked(parts, planned(parts, reading, examples), examples, told, deployment)


async def _worked(
    parts: Parts,
    plan: Manifest,
    examples: Sequence[Example[Any]],
    told: Callable[[Progress], None],
    deployment: Deployment | None,
) -> Ran:
    folder, wanted = RunFolder(parts.wanted.out), parts.wanted
    with folder.opened(plan) as manifest:
        kept = folder.judged()
        try:
            record = BatchRecord(kept, wanted.at_once)
            judging = parts.judging(record, manifest, folder)
            async with AsyncExitStack() as stack:
                if deployment is None:
                    answering = parts.answering(manifest, folder)
                else:
                    asked = unanswered(examples, folder)
                    answering = await stack.enter_async_context(by_fleet(deployment, manifest, folder, wanted, asked))
                most = BOUNDS[wanted.effort].sections
                evaluation = Evaluation(parts.benchmark, examples, answering, judging, folder, wanted.at_once, told, most)
                return Ran(manifest, await evaluation.work())
        finally:
            kept.close()


def unanswered(examples: Sequence[Example[Any]], folder: RunFolder) -> list[Example[Any]]:
    """Return the examples without an answer."""
    answered = {item for item, answer in folder.answers().items() if not answer.failed}
    return [example for example in examples if example.id not in answered]


def planned(parts: Parts, reading: Reading, examples: Sequence[Example[Any]]) -> Manifest:
    """Make the manifest of a run that begins now."""
    now = datetime.now(UTC)
    return Manifest(
        benchmark=parts.benchmark.name,
        variant=reading.variant,
        data=file_digests(parts.benchmark.files(reading)),
        items=tuple(example.id for example in examples),
        seed=parts.wanted.seed,
        system=parts.system_used(),
        judge=parts.judge_used(examples, reading.variant),
        prompts=parts.prompts.digests,
        code=code_digest(PACKAGES),
        today=now.date(),
        started_at=now,
        demonstration=parts.wanted.demonstration,
    )


def chosen(examples: Sequence[Example[Any]], wanted: Wanted) -> list[Example[Any]]:
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
        drawn = {e.id for e in sorted(usable, key=lambda e: _lot(wanted.seed, e.id))[: wanted.limit]}
        usable = [e for e in usable if e.id in drawn]
    if not usable:
        raise InvalidInput(f"nothing of {wanted.benchmark} is left to work; look at --language, --id and the data")
    return usable


def _lot(seed: int, item: str) -> str:
    return hashlib.sha256(f"{seed}/{item}".encode()).hexdigest()
