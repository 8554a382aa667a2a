"""The rubric generator: GRPO or GSPO with preference, quality and form as rewards (QSR 3.3, Eq. 1 to 3)."""

from functools import partial

from app.domain.errors import InvalidInput
from app.domain.split import Split
from training.recipes.catalogue import Recipe
from training.recipes.memory import estimate_memory
from training.recipes.preflight import Preflight, TokenCounts
from training.recipes.rubric_generator.config import RubricGeneratorConfig
from training.recipes.rubric_generator.data import read_tasks
from training.recipes.run_folder import TrainingFolder
from training.recipes.training_data import digest_sets


def check(config: RubricGeneratorConfig) -> Preflight:
    """Read the data and say what the run will take.

    Raises:
        InvalidInput: there are no pairs to validate on, or as above.
    """
    tasks, r = len(read_tasks(config, Split.TRAIN)), config.rollouts
    if not (held_out := len(read_tasks(config, Split.VALIDATION))):
        raise InvalidInput("the best policy is chosen on pairs of the validation split, and the sets have none: make larger ones")
    most = tasks * r.group_size
    tokens = TokenCounts(most, most * r.context, most * r.most_tokens, r.context)
    figures = {
        "pairs": f"{tokens.examples // r.group_size} to learn from, {held_out} to validate on",
        "rollouts": f"{r.group_size} of each pair; tokens above are the most that they may have",
        "reward": f"{config.reward.mode}, quality {config.reward.scaling}, Eq. 2 {config.reward.aggregation}",
    }
    warnings = [] if config.judge else ["without [judge] the rules of planted preferences judge, and understand nothing else"]
    return Preflight(tokens, config.count_steps(tasks), estimate_memory(config, r.context), figures, warnings)


def train(config: RubricGeneratorConfig, folder: TrainingFolder) -> None:
    """Train, and leave the best policy in the folder."""
    from training.recipes.reinforcement.tasks import repeat_tasks
    from training.recipes.reinforcement.train_policy import PolicyTraining, train_policy
    from training.recipes.rubric_generator.work import measure_preference, open_work

    tasks, held_out = (read_tasks(config, split) for split in (Split.TRAIN, Split.VALIDATION))
    today = folder.origin.started_at.date()
    training = PolicyTraining(
        tasks=repeat_tasks(tasks, config.run.seed),
        steps=config.count_steps(len(tasks)),
        open_work=partial(open_work, config, folder.path, today),
        validate=partial(measure_preference, config, held_out, folder.path, today),
    )
    train_policy(config, folder, training)


RUBRIC_GENERATOR = Recipe(
    name="rubric_generator",
    about="reinforcement learning of query-specific rubrics from preferences (QSR 3.3)",
    config=RubricGeneratorConfig,
    check=check,
    digest=lambda config: digest_sets(config.data.sets),
    train=train,
)
