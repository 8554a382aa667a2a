"""DPO: the policy learns to prefer the better of its own outputs."""

from training.recipes.catalogue import Recipe
from training.recipes.ordering import count_steps, lay_out_epochs
from training.recipes.preference_dpo.config import DpoConfig
from training.recipes.preference_dpo.data import read_examples, read_prompts
from training.recipes.preflight import Preflight, count_tokens
from training.recipes.run_folder import TrainingFolder
from training.recipes.training_data import digest_sets


def check(config: DpoConfig) -> Preflight:
    """Read the data and say what the run will take."""
    from training.recipes.memory import estimate_memory
    from training.recipes.policy import load_tokenizer

    data = read_examples(config, load_tokenizer(config.model))
    tokens = count_tokens([each for pair in data.pairs for each in (pair.chosen, pair.rejected)])
    steps = count_steps(len(data.pairs), config.optimizer.epochs, config.examples_a_step)
    warnings = [f"{data.too_long} pairs have more than {config.data.max_tokens} tokens and are left out"] if data.too_long else []
    return Preflight(
        tokens, steps, estimate_memory(config, tokens.longest, copies=2), {"pairs": f"{len(data.pairs):,}"}, warnings
    )


def train(config: DpoConfig, folder: TrainingFolder) -> None:
    """Train, and leave the model in the folder, with the rates before and after."""
    from training.recipes.policy import load_tokenizer
    from training.recipes.preference_dpo.trainer import open_trainer
    from training.recipes.report_rates import AFTER, BEFORE, keep_rates
    from training.recipes.training_loop import finish, train_on

    pairs = read_examples(config, load_tokenizer(config.model)).pairs
    prompts, seed = read_prompts(config), config.run.seed
    trainer = open_trainer(config, folder, lay_out_epochs(pairs, config.optimizer.epochs, seed))
    keep_rates(BEFORE, folder, trainer, prompts, config.rates, seed)
    train_on(trainer, folder)
    keep_rates(AFTER, folder, trainer, prompts, config.rates, seed)
    finish(trainer, config, folder)


PREFERENCE_DPO = Recipe(
    name="preference_dpo",
    about="direct preference optimisation on the policy's own outputs (MDR 5.4, Eq. 14)",
    config=DpoConfig,
    check=check,
    digest=lambda config: digest_sets(config.data.sets),
    train=train,
)
