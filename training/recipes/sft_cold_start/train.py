"""Supervised fine-tuning for a cold start: loss on thoughts, calls and answers only, short conversations first."""

from collections import Counter
from collections.abc import Sequence

from training.recipes.catalogue import Recipe
from training.recipes.chatml import MaskedIds
from training.recipes.fitting import FittingExamples
from training.recipes.memory import estimate_memory
from training.recipes.ordering import count_steps, find_phase, lay_out_epochs
from training.recipes.policy import load_tokenizer
from training.recipes.preflight import Preflight, count_tokens
from training.recipes.run_folder import TrainingFolder
from training.recipes.sft_cold_start.config import ColdStartConfig
from training.recipes.sft_cold_start.data import read_examples
from training.recipes.sft_cold_start.format_limit import RULES, find_format_limit
from training.recipes.training_data import digest_sets


def check(config: ColdStartConfig) -> Preflight:
    """Read the data and say what the run will take."""
    data = read_examples(config, load_tokenizer(config.model))
    tokens = count_tokens(data.examples)
    figures = {f"to {phase:,}": f"{share:.0%} of the examples" for phase, share in _share_phases(config, data.examples).items()}
    if config.stopping:
        figures["format limit"] = f"{find_format_limit(RULES[config.stopping.limit]):.4f} ({config.stopping.limit})"
    steps = count_steps(tokens.examples, config.optimizer.epochs, config.examples_a_step)
    return Preflight(tokens, steps, estimate_memory(config, tokens.longest), figures, _list_warnings(config, data, steps))


def train(config: ColdStartConfig, folder: TrainingFolder) -> None:
    """Train, and leave the model in the folder."""
    from training.recipes.sft_cold_start.checking import StoppingCallback
    from training.recipes.supervised import open_supervised
    from training.recipes.training_loop import finish, train_on

    tokenizer = load_tokenizer(config.model)
    examples = read_examples(config, tokenizer).examples
    ordered = lay_out_epochs(examples, config.optimizer.epochs, config.run.seed, lambda each: _begin_of(config, each))
    trainer = open_supervised(config, folder, ordered)
    if config.stopping:
        trainer.add_callback(StoppingCallback(config, config.stopping, folder, tokenizer))
    train_on(trainer, folder)
    finish(trainer, config, folder)


def _begin_of(config: ColdStartConfig, example: MaskedIds) -> float:
    """Return the share of the run from which an example may come."""
    phase = find_phase(len(example.ids), config.phases)
    return phase.begins if phase else 0.0


def _share_phases(config: ColdStartConfig, examples: Sequence[MaskedIds]) -> dict[int, float]:
    found = Counter(phase.up_to for each in examples if (phase := find_phase(len(each.ids), config.phases)))
    return {up_to: found[up_to] / len(examples) for up_to in sorted(found)}


def _list_warnings(config: ColdStartConfig, data: FittingExamples[MaskedIds], steps: int) -> list[str]:
    warnings = data.list_warnings(config.data.max_tokens)
    if config.stopping and config.run.log_every > config.stopping.check_every:
        warnings.append("the stopping rule looks where losses are logged: lower run.log_every to at most stopping.check_every")
    if config.stopping and steps < config.stopping.first_end:
        warnings.append(f"the stopping rule cannot end this run: it needs {config.stopping.first_end:,} steps")
    return warnings


SFT_COLD_START = Recipe(
    name="sft_cold_start",
    about="supervised fine-tuning on trajectories: thoughts, calls and answers (MDR 5.1, DRub B.1)",
    config=ColdStartConfig,
    check=check,
    digest=lambda config: digest_sets(config.data.sets),
    train=train,
)
