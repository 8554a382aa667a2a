"""Search-RL (MindDR 5.2): the search agent learns to call tools, then to meet entities, then to answer."""

from collections.abc import Mapping

from app.domain.split import Split
from training.recipes.catalogue import Recipe
from training.recipes.memory import estimate_memory
from training.recipes.preflight import Preflight, TokenCounts
from training.recipes.reinforcement.step_room import list_caps
from training.recipes.rollout_tools import check_tools, digest_tools
from training.recipes.run_folder import TrainingFolder
from training.recipes.search_rl.config import SearchRLConfig
from training.recipes.search_rl.data import TasksByLevel, read_tasks
from training.recipes.search_rl.schedule import RewardSchedule, weigh_parts
from training.recipes.training_data import digest_sets
from workflows.agents.actions import make_act_step
from workflows.agents.finding_quotes import FINDING


def check(config: SearchRLConfig) -> Preflight:
    """Read the data and say what the run will take."""
    tasks = read_tasks(config.data.sets, Split.TRAIN)
    count = sum(map(len, tasks.values()))
    rollouts, context = count * config.rollouts.group_size, config.rollouts.context
    tokens = TokenCounts(rollouts, rollouts * context, rollouts * context, context)
    figures = {
        **{f"{level} tasks": f"{len(own):,}" for level, own in tasks.items()},
        "search": check_tools(config.tools),
        "counted": "tokens as if each rollout filled rollouts.context with one row",
    }
    return Preflight(tokens, config.count_steps(count), estimate_memory(config, context), figures, _list_warnings(config))


def _list_warnings(config: SearchRLConfig) -> list[str]:
    acting = [] if config.chain.action_tokens else [make_act_step(frozenset())]
    warnings = list_caps(config.rollouts.most_tokens, [*acting, FINDING])
    if not config.judges:
        warnings.append("without judges an answer is right when it is short and names the known one")
    if not read_tasks(config.data.sets, Split.VALIDATION):
        warnings.append("the sets have no validation split: difficulties keep their shares, and the last policy is delivered")
    return warnings


def train(config: SearchRLConfig, folder: TrainingFolder) -> None:
    """Train on the sets, and leave the best policy in the folder."""
    tasks, held_out = (read_tasks(config.data.sets, split) for split in (Split.TRAIN, Split.VALIDATION))
    train_on_tasks(config, folder, tasks, held_out)


def train_on_tasks(config: SearchRLConfig, folder: TrainingFolder, tasks: TasksByLevel, held_out: TasksByLevel) -> None:
    """Train on these tasks. The best policy on the held-out ones is left in the folder; without any, the last one."""
    from training.recipes.reinforcement.policy_source import OpenPolicy
    from training.recipes.reinforcement.train_policy import PolicyTraining, train_policy
    from training.recipes.search_rl.difficulty import DifficultyMix
    from training.recipes.search_rl.validation import adapt_mix, measure_policy
    from training.recipes.search_rl.work import open_work

    logged = folder.read_metrics()
    section = config.schedule
    schedule = RewardSchedule(section.start.weights, section.list_phases(), section.window, logged)
    mix = DifficultyMix(tasks, config.run.seed, logged)

    async def validate(policy: OpenPolicy) -> Mapping[str, float]:
        work = open_work(config, folder.path, schedule, policy)
        measured = await measure_policy(held_out, config.validation.tasks, work, section.last)
        return {**measured, **(adapt_mix(mix, measured, config.difficulty) if config.difficulty.adapt else {})}

    train_policy(
        config,
        folder,
        PolicyTraining(
            tasks=mix,
            steps=config.count_steps(sum(map(len, tasks.values()))),
            open_work=lambda policy: open_work(config, folder.path, schedule, policy),
            validate=validate if held_out else None,
            part_weights=weigh_parts(schedule.weights),
            schedule=schedule,
        ),
    )


SEARCH_RL = Recipe(
    name="search_rl",
    about="reinforcement learning of the search agent: calls, form, entities met, answers (MDR 5.2)",
    config=SearchRLConfig,
    check=check,
    digest=lambda config: digest_sets(config.data.sets) | digest_tools(config.tools),
    train=train,
)
