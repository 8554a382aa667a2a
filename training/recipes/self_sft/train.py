"""Self-SFT: the policy learns its own good outputs."""

from training.recipes.catalogue import Recipe
from training.recipes.memory import estimate_memory
from training.recipes.ordering import count_steps, lay_out_epochs
from training.recipes.policy import load_tokenizer
from training.recipes.preflight import Preflight, count_tokens
from training.recipes.run_folder import TrainingFolder
from training.recipes.self_sft.config import SelfSftConfig
from training.recipes.self_sft.data import read_examples, read_prompts
from training.recipes.training_data import digest_sets


def check(config: SelfSftConfig) -> Preflight:
    """Read the data and say what the run will take."""
    data = read_examples(config, load_tokenizer(config.model))
    tokens = count_tokens(data.examples)
    steps = count_steps(tokens.examples, config.optimizer.epochs, config.examples_a_step)
    return Preflight(tokens, steps, estimate_memory(config, tokens.longest), warnings=data.list_warnings(config.data.max_tokens))


def train(config: SelfSftConfig, folder: TrainingFolder) -> None:
    """Train, and leave the model in the folder, with the rates before and after."""
    from training.recipes.report_rates import train_and_rate
    from training.recipes.supervised import open_supervised

    examples = read_examples(config, load_tokenizer(config.model)).examples
    trainer = open_supervised(config, folder, lay_out_epochs(examples, config.optimizer.epochs, config.run.seed))
    train_and_rate(trainer, config, folder, read_prompts(config))


SELF_SFT = Recipe(
    name="self_sft",
    about="supervised fine-tuning on the policy's own good outputs (MDR 5.4, Eq. 15)",
    config=SelfSftConfig,
    check=check,
    digest=lambda config: digest_sets(config.data.sets),
    train=train,
)
