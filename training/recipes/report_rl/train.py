"""Report-RL: a policy writes whole reports, and is rewarded for them (MDR 5.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.errors import InvalidInput
from app.domain.split import Split
from training.recipes.catalogue import Recipe
from training.recipes.memory import estimate_memory
from training.recipes.policy import load_tokenizer
from training.recipes.preflight import Preflight, TokenCounts
from training.recipes.reinforcement.step_room import list_caps
from training.recipes.report_rl.config import ReportConfig, Writer
from training.recipes.report_rl.data import ReportMaterial, count_forms, read_tasks
from training.recipes.run_folder import TrainingFolder
from training.recipes.training_data import digest_sets
from training.rollouts.nouns import Task
from workflows.agents.reporting.sections import SECTION
from workflows.agents.reporting.whole_prompt import WHOLE_REPORT


@dataclass(frozen=True, slots=True)
class FittingTasks:
    """The tasks whose prompts leave room for a whole answer, the tokens of their prompts, and the number of the others."""

    tasks: Sequence[Task[ReportMaterial]]
    tokens: Sequence[int]
    too_long: int


def check(config: ReportConfig) -> Preflight:
    """Read the data and say what the run will take."""
    found = read_fitting(config, load_tokenizer(config.model), Split.TRAIN)
    room, samples = config.rollouts.most_tokens, config.rollouts.group_size
    tokens = TokenCounts(
        len(found.tasks),
        samples * (sum(found.tokens) + room * len(found.tasks)),
        samples * room * len(found.tasks),
        max(found.tokens) + room,
    )
    figures = {"rows": ", ".join(f"{count} {form}" for form, count in count_forms(found.tasks).items())}
    warnings = list_caps(room, [SECTION if config.writer.kind is Writer.SECTIONS else WHOLE_REPORT])
    if found.too_long:
        warnings.append(f"{found.too_long} prompts leave no room for an answer and are left out")
    return Preflight(tokens, config.count_steps(len(found.tasks)), estimate_memory(config, tokens.longest), figures, warnings)


def read_fitting(config: ReportConfig, tokenizer: Any, split: Split) -> FittingTasks:
    """Read the tasks of a split. Those whose prompt leaves no room are left out; section writers never see it, and keep all.

    Raises:
        InvalidInput: the sets cannot be used, or no prompt for training fits.
    """
    from training.rollouts.chat_template import ChatTemplate

    template, most = ChatTemplate(tokenizer), config.rollouts.context - config.rollouts.most_tokens
    tasks = read_tasks(config.data, config.writer.kind, split)
    lengths = [len(template.encode_opening(task.material.prompt)) for task in tasks]
    if config.writer.kind is Writer.SECTIONS:
        return FittingTasks(tasks, [min(length, most) for length in lengths], 0)
    fitting = [(task, length) for task, length in zip(tasks, lengths, strict=True) if length <= most]
    if not fitting and split is Split.TRAIN:
        raise InvalidInput(f"the shortest prompt has {min(lengths)} tokens, and [rollouts] leaves {most}: raise context")
    return FittingTasks([task for task, _ in fitting], [length for _, length in fitting], len(tasks) - len(fitting))


def train(config: ReportConfig, folder: TrainingFolder) -> None:
    """Train, and leave the policy that was best on the validation split in the folder."""
    from training.recipes.reinforcement.tasks import repeat_tasks
    from training.recipes.reinforcement.train_policy import PolicyTraining, train_policy
    from training.recipes.report_rl.work import open_work, validate

    tokenizer = load_tokenizer(config.model)
    tasks = read_fitting(config, tokenizer, Split.TRAIN).tasks
    held_out = read_fitting(config, tokenizer, Split.VALIDATION).tasks[: config.validation.tasks]
    training = PolicyTraining(
        tasks=repeat_tasks(tasks, config.run.seed),
        steps=config.count_steps(len(tasks)),
        open_work=lambda policy: open_work(config, folder.path, policy),
        validate=(lambda policy: validate(config, folder.path, policy, held_out)) if held_out else None,
    )
    train_policy(config, folder, training)


REPORT_RL = Recipe(
    name="report_rl",
    about="reinforcement learning of the report writer: RACE, citations, violations (MDR 5.3)",
    config=ReportConfig,
    check=check,
    digest=lambda config: digest_sets(config.data.sets),
    train=train,
)
