"""The set of self-samples (MDR section 5.4): outputs of the writer, scored, good and bad ones, and the pair of best and worst.

Options: base (the weights that are sampled: their folder, or NAME@REVISION), preset, samples, temperature, tokens; generator and
generator_model, for the preset rubrics; in hundredths: judges, high, low, margin.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from functools import partial
from itertools import chain
from pathlib import Path

from app.domain.chat import Completion
from app.domain.errors import InvalidInput
from app.domain.missing import Missing
from app.domain.rubric import Rubric
from training.base_lineage import digest_base, trace_base
from training.rewards.score import require_present
from training.synthesis.catalogue import SetKind
from training.synthesis.named_models import GENERATOR_MODEL, GENERATOR_URL
from training.synthesis.recorded_runs import require_one_notation
from training.synthesis.self_samples.figures import count_figures
from training.synthesis.self_samples.presets import load_preset
from training.synthesis.self_samples.prompts import SamplePrompt, read_prompts
from training.synthesis.self_samples.rows import ScoreLimits, keep_samples
from training.synthesis.self_samples.sampling import Sampling, sample_outputs
from training.synthesis.self_samples.scoring import Scoring
from training.synthesis.set_request import BASE
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from training.synthesis.training_set.recipe import QUOTED, SetRecipe
from training.synthesis.workshop import Workshop
from workflows.agents.ports import Record
from workflows.agents.reporting.whole_prompt import WHOLE_REPORT
from workflows.judging.rubric_generation import write_query_specific_rubric
from workflows.systems.local_record import LocalRecord

PRESET, SAMPLES, TEMPERATURE, TOKENS = "preset", "samples", "temperature", "tokens"
JUDGES, HIGH, LOW, MARGIN = "judges", "high", "low", "margin"
OPTIONS = frozenset({BASE, PRESET, SAMPLES, TEMPERATURE, TOKENS, JUDGES, HIGH, LOW, MARGIN, GENERATOR_URL, GENERATOR_MODEL})
SAMPLING_STAGE, RUBRIC_STAGE, JUDGE_STAGE = "sampling", "rubric", "judge"
FEWEST = 2


def open_recipe(workshop: Workshop) -> SetRecipe[SamplePrompt]:
    """Return the recipe.

    Raises:
        InvalidInput: an input or an option cannot be used.
    """
    request = workshop.request
    if not request.inputs:
        raise InvalidInput("self-samples needs an --input: runs of `rubrica eval run`, or sets of report-data")
    if unknown := request.options.keys() - OPTIONS:
        raise InvalidInput(f"self-samples has no option {min(unknown)!r}; it has {', '.join(sorted(OPTIONS))}")
    scoring = Scoring(load_preset(request.options.get(PRESET, "reports")), request.number(JUDGES, 50) / 100)
    limits = ScoreLimits(request.number(HIGH, 70) / 100, request.number(LOW, 50) / 100, request.number(MARGIN, 30) / 100)
    make = partial(_make_row, workshop, _read_sampling(workshop), scoring, limits)
    prompts = _list_prompts(workshop)
    return SetRecipe(
        prompts,
        make,
        count_figures,
        ask_query=lambda prompt: prompt.query,
        trained=("samples",),
        base=_trace_base(workshop),
        notation=require_one_notation({prompt.notation: f"the prompt of {prompt.query!r}" for prompt in prompts}),
        walls=QUOTED,
    )


def _trace_base(workshop: Workshop) -> Mapping[str, str]:
    """Return the lineage of the weights that are sampled."""
    base, _, revision = workshop.request.options.get(BASE, "").partition("@")
    if not base:
        raise InvalidInput(
            f"whose samples are they? Give --option {BASE}=FOLDER with the weights that the server of RUBRICA_LLM_MODEL serves "
            "(merge an adapter first), or NAME@REVISION on the hub: a recipe learns from those of its own [model] base alone"
        )
    if Path(base).is_dir() and not digest_base(base):
        raise InvalidInput(f"{base} has no weights: name the folder that the recipe has under [model] base")
    return trace_base(base, revision)


def _read_sampling(workshop: Workshop) -> Sampling:
    request = workshop.request
    samples, tokens = request.number(SAMPLES, 4), request.number(TOKENS, WHOLE_REPORT.max_tokens)
    sampling = Sampling(samples, request.decimal(TEMPERATURE, 1.0), tokens, first_seed=request.seed * samples)
    if sampling.samples < FEWEST or sampling.temperature <= 0:
        raise InvalidInput(f"a prompt needs at least {FEWEST} samples and a temperature above 0: at 0 all outputs are alike")
    return sampling


def _list_prompts(workshop: Workshop) -> list[SamplePrompt]:
    """Return each prompt once, in an order that the seed decides."""
    request = workshop.request
    open_kit = partial(workshop.open_writer, LocalRecord("prompts"))
    read = (read_prompts(path, workshop.prompts, workshop.today, open_kit) for path in request.inputs)
    found = {prompt.id: prompt for prompt in chain.from_iterable(read)}
    if not found:
        raise InvalidInput(
            "no --input has a prompt: it takes runs of `rubrica eval run` in which a model planned and read passages, or rows of "
            "report-data with their retrieval"
        )
    drawn = sorted(found, key=lambda name: hashlib.sha256(f"{request.seed} {name}".encode()).hexdigest())
    return [found[name] for name in drawn]


async def _make_row(
    workshop: Workshop, sampling: Sampling, scoring: Scoring, limits: ScoreLimits, prompt: SamplePrompt, record: Record
) -> KeptRow | RefusedCandidate:
    """Sample the writer for one prompt, score what it says, and keep it if it is good, or differs enough."""
    rubric = await _write_rubric(workshop, scoring, prompt, record)
    if isinstance(rubric, Missing):
        return _refuse(prompt, RUBRIC_STAGE, rubric.reason)
    writer = workshop.open_writer(record, prompt.language)
    outputs = await sample_outputs(writer, prompt, sampling)
    if isinstance(outputs, Missing):
        return _refuse(prompt, SAMPLING_STAGE, outputs.reason)
    if len(outputs) < FEWEST:
        return _refuse(prompt, SAMPLING_STAGE, "all outputs are alike or empty")
    judge = workshop.open_verifier(record, prompt.language)
    scores = require_present(await asyncio.gather(*(scoring.score(judge, prompt, output, rubric) for output in outputs)))
    if isinstance(scores, Missing):
        return _refuse(prompt, JUDGE_STAGE, scores.reason)
    scored = list(zip(map(_text_of, outputs), scores, strict=True))
    return keep_samples(prompt, scored, limits, scoring.preset.name, writer.chat.name, sampling.temperature, rubric)


async def _write_rubric(workshop: Workshop, scoring: Scoring, prompt: SamplePrompt, record: Record) -> Rubric | Missing | None:
    """Have the generator write the question's rubric; None where the preset judges by no rubric."""
    if scoring.preset.dimensions or not scoring.weight:
        return None
    kit = workshop.open_generator(record, prompt.language, prompt.asked_on)
    return await write_query_specific_rubric(kit, prompt.query)


def _text_of(output: Completion) -> str:
    return output.text


def _refuse(prompt: SamplePrompt, stage: str, reason: str) -> RefusedCandidate:
    return RefusedCandidate(stage=stage, reason=reason, data={"query": prompt.query})


SELF_SAMPLES = SetKind(
    name="self-samples",
    about="outputs of the writer for the served prompt (--input), scored by judges and rules: good, bad, and pairs for DPO",
    open_recipe=open_recipe,
    options=OPTIONS,
)
