"""DPO: the policy learns to prefer the better of its own outputs."""

from training.recipes.catalogue import Recipe
from training.recipes.memory import estimate_memory
from training.recipes.ordering import count_steps, lay_out_epochs
from training.recipes.policy import load_tokenizer
from training.recipes.preference_dpo.config import DpoConfig
from training.recipes.preference_dpo.data import read_examples, read_prompts
from training.recipes.preflight import Preflight, count_tokens
from training.recipes.run_folder import TrainingFolder
from training.recipes.training_data import digest_sets


def check(config: DpoConfig) -> Preflight:
    """Read the data and say what the run will take."""
    data = read_examples(config, load_tokenizer(config.model))
    tokens = count_tokens([each for pair in data.examples for each in (pair.chosen, pair.rejected)])
    steps = count_steps(len(data.examples), config.optimizer.epochs, config.examples_a_step)
    memory = estimate_memory(config, tokens.longest, rows_an_example=2)
    return Preflight(tokens, steps, memory, {"pairs": f"{len(data.examples):,}"}, data.list_warnings(config.data.max_tokens))


def train(config: DpoConfig, folder: TrainingFolder) -> None:
    """Train, and leave the model in the folder, with the rates before and after."""
    from training.recipes.preference_dpo.trainer import open_preference
    from training.recipes.report_rates import train_and_rate

    pairs = read_examples(config, load_tokenizer(config.model)).examples
    trainer = open_preference(config, folder, lay_out_epochs(pairs, config.optimizer.epochs, config.run.seed))
    train_and_rate(trainer, config, folder, read_prompts(config))


PREFERENCE_DPO = Recipe(
    name="preference_dpo",
    about="direct preference optimisation on the policy's own outputs (MDR 5.4, Eq. 14)",
    config=DpoConfig,
    check=check,
    digest=lambda config: digest_sets(config.data.sets),
    train=train,
)
