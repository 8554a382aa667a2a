"""Training of an agent by the rubrics of its questions, on its own rollouts over local corpora."""

from collections.abc import Mapping
from statistics import fmean

from app.domain.query import SystemName
from app.domain.split import Split
from training.recipes.agent_rl.config import AgentRLConfig
from training.recipes.agent_rl.data import read_tasks
from training.recipes.catalogue import Recipe
from training.recipes.memory import estimate_memory
from training.recipes.preflight import Preflight, TokenCounts
from training.recipes.reinforcement.step_room import list_caps
from training.recipes.rollout_tools import check_tools, digest_tools
from training.recipes.run_folder import TrainingFolder
from training.recipes.training_data import digest_sets
from workflows.agents import react
from workflows.agents.markov import roles as markov
from workflows.agents.reporting.whole_prompt import WHOLE_REPORT
from workflows.agents.steps import AnyStep

WRITING: Mapping[SystemName, AnyStep] = {
    SystemName.MINDDR: WHOLE_REPORT,
    SystemName.MAMS: markov.REPORT,
    SystemName.REACT: react.REPORT,
    SystemName.DEEPRUBRIC: react.REPORT,
}
"""The step in which a system's report is written, the longest answer of its policy."""


def check(config: AgentRLConfig) -> Preflight:
    """Read the data and say what the run will take."""
    count = len(read_tasks(config.data, Split.TRAIN))
    rollouts, context = count * config.rollouts.group_size, config.rollouts.context
    figures = {
        "tasks": f"{count:,}, rubrics: {config.data.rubrics}",
        "system": f"{config.system}, rewarded by {config.reward.kind}",
        "search": check_tools(config.tools),
        "counted": "tokens as if each rollout filled rollouts.context with one row",
    }
    warnings = list_caps(config.rollouts.most_tokens, [WRITING[config.system]])
    if not read_tasks(config.data, Split.VALIDATION):
        warnings.append("no validation split: the last policy is delivered")
    tokens = TokenCounts(rollouts, rollouts * context, rollouts * context, context)
    return Preflight(tokens, config.count_steps(count), estimate_memory(config, context), figures, warnings)


def train(config: AgentRLConfig, folder: TrainingFolder) -> None:
    """Train, and leave the best policy in the folder."""
    from training.recipes.agent_rl.work import open_work
    from training.recipes.held_out import MISSING, sample_held_out
    from training.recipes.reinforcement.policy_source import OpenPolicy
    from training.recipes.reinforcement.tasks import repeat_tasks
    from training.recipes.reinforcement.train_policy import PolicyTraining, train_policy

    tasks = read_tasks(config.data, Split.TRAIN)
    held_out = read_tasks(config.data, Split.VALIDATION)[: config.validation.tasks]

    async def validate(policy: OpenPolicy) -> Mapping[str, float]:
        rollouts = await sample_held_out(held_out, open_work(config, folder.path, policy))
        values = [value for each in rollouts if isinstance(value := each.reward.value, float)]
        return {"validation": fmean(values), MISSING: 1 - len(values) / len(held_out)}

    train_policy(
        config,
        folder,
        PolicyTraining(
            tasks=repeat_tasks(tasks, config.run.seed),
            steps=config.count_steps(len(tasks)),
            open_work=lambda policy: open_work(config, folder.path, policy),
            validate=validate if held_out else None,
        ),
    )


AGENT_RL = Recipe(
    name="agent_rl",
    about="reinforcement learning of a research agent by the rubrics of its questions (DRub 3.3, QSR 3.4)",
    config=AgentRLConfig,
    check=check,
    digest=lambda config: digest_sets(config.data.sets) | digest_tools(config.tools),
    train=train,
)
