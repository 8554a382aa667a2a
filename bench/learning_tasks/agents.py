"""`agent_rl`: reports of DeepRubric's agent on planted facts.

Chain, tools, form of the rubric and reward are the recipe's own. Where a paid model would judge, a script answers by the planted
facts that its prompts show. On seed 100, which is none of those reported, the size of the world, the mix of the reporter, the
length of SFT and the number of steps were chosen. Nothing of the reward or of GRPO was tuned.
"""

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.chat import ChatRequest, ChatRole
from app.domain.evidence_rubric import EvidenceRubric
from app.domain.query import Language
from bench.learning_tasks.beginnings import Start, build_tokenizer, describe_sft, mask_all
from bench.learning_tasks.counted_agents import count_agent
from bench.learning_tasks.planted_facts import TOPICS, ErringReporter, KnownWork, Topic, list_phrases, plant_facts, record_facts
from bench.learning_tasks.planted_searches import read_findings
from bench.learning_tasks.protocol import PolicyScores, SeedScores
from bench.learning_tasks.runs import open_saved, open_training, train_on_examples
from bench.learning_tasks.scoring import score_answers
from training.recipes.agent_rl.config import AgentRLConfig
from training.recipes.agent_rl.reward import ReportReader, reward_report
from training.recipes.config import TINY
from training.recipes.held_out import sample_held_out
from training.recipes.reinforcement.tasks import repeat_tasks
from training.recipes.rollout_tools import open_tools
from training.rewards.transcript import TOOLS
from training.rollouts.nouns import Reward, Rollout, Task
from training.rollouts.rollout_work import Draw, JudgeRollout, RolloutOutcome, RolloutWork
from training.rollouts.run_chain import run_chain
from training.synthesis.trajectories.conversations import TrainedConversation, list_conversations
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.prompts.library import PromptLibrary
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local_record import LocalRecord

EXAMPLES, ITEMS, STEPS = 1_200, 96, 24
TEMPERATURE = 1.0
SPREAD = 0.1
"""The spread of the first weights. With .02 SFT of these minutes does not learn to copy a name from its prompt."""
TAPE, WHOLE_TAPE = "tape.jsonl", "whole-tape.jsonl"
WHOLE: Mapping[str, float] = {}
"""The weights of `paper.toml`, which the recipe has where none are said."""
NO_RUBRIC = {"rubric": 0.0}
PART_OF_PROMPT = re.compile(r"<(question|criterion|answer|statement|cited_text|sentence)>\n(.*?)\n</\1>", re.DOTALL)
SHOWN_TAG = re.compile(r"‹[^<>]*?>")
"""A tag of the answer, as a judge is shown it."""


@dataclass(frozen=True, slots=True)
class AgentTask:
    """The task. The ablated reward lacks the rubric: it is half of the reward, and the one part that knows what was asked."""

    recipe: str = "agent_rl"
    steps: int = STEPS

    def run_seed(self, folder: Path, seed: int, start: Start) -> SeedScores:
        """Train and measure."""
        learned, held_out = plant_facts(seed)
        record_facts(learned).save(folder / TAPE)
        record_facts([*learned, *held_out]).save(folder / WHOLE_TAPE)
        shown = show_reports(folder, learned, seed)
        base = start.make_base(folder / "base", build_tokenizer(list_phrases(list_told(shown))), seed, SPREAD)
        taught = train_on_examples(folder / "sft", describe_sft(base, start, seed, 3e-3, 8, 3), mask_all(base, shown))
        models = [
            base,
            taught,
            train_agent(folder / "trained", describe_rl(taught, folder / TAPE, seed, WHOLE, start), learned, self.steps),
            train_agent(folder / "ablated", describe_rl(taught, folder / TAPE, seed, NO_RUBRIC, start), learned, self.steps),
        ]
        scored = [asyncio.run(measure(model, start, folder, held_out, seed)) for model in models]
        return SeedScores(scored[0], scored[1], scored[2], scored[3])


def describe_rl(base: Path, tape: Path, seed: int, reward: Mapping[str, float], start: Start) -> AgentRLConfig:
    """Return the configuration of DeepRubric's GRPO."""
    return AgentRLConfig.model_validate(
        {
            "system": "deeprubric",
            "one_conversation": True,
            "model": start.describe_model(base),
            "data": {"sets": ["planted"]},
            "reward": reward,
            "tools": {"tape": str(tape)},
            "chain": {"turns": 4, "calls_per_turn": 3, "observation_tokens": 800},
            "judge": {"url": "http://127.0.0.1:9/v1", "model": "nobody"},
            "objective": {"name": "grpo"},
            "optimizer": {
                "learning_rate": start.scale_rate(5e-4),
                "batch_size": start.limit_rows(32),
                "schedule": "constant",
            },
            "rollouts": {
                "group_size": 8,
                "tasks_a_step": 4,
                "most_tokens": start.scale_tokens(80),
                "context": start.scale_tokens(480),
                "rows": 64,
            },
            "run": {"device": start.device, "seed": seed, "samples": 4, "save_every": 1_000},
        }
    )


def list_tasks(works: Sequence[KnownWork]) -> list[Task[EvidenceRubric]]:
    """Return the tasks: questions with their rubrics."""
    return [Task(f"{n}", each.question, Language.ENGLISH, each.rubric) for n, each in enumerate(works)]


@asynccontextmanager
async def open_work(
    config: AgentRLConfig, policy: Any, make_judge: Callable[[AgentRLConfig], JudgeRollout[EvidenceRubric]]
) -> AsyncIterator[RolloutWork[EvidenceRubric]]:
    """Open the recipe's chain over the tape. The judge is made in the collector's thread, to which its store belongs."""
    async with open_tools(config.tools) as make_tools:
        setup = config.chain.set_up(config.system, AGENTS[config.system], make_tools, config.one_conversation)

        async def run(draw: Draw[EvidenceRubric], record: LocalRecord) -> RolloutOutcome:
            return await run_chain(draw.task.question, draw.task.language, policy(draw.seed), record, setup)

        yield RolloutWork(run, make_judge(config))


def make_planted_judge(config: AgentRLConfig) -> JudgeRollout[EvidenceRubric]:
    """Return the recipe's own reward. Its judge is asked as a paid model would be."""
    model, record = ScriptedModel(judge_as_planted), BatchRecord(AnswerStore(), config.judge.at_once)
    kit = Kit(model, {}, record, PromptLibrary.load(), SchemaCodec(), config.chain.today, lambda: 0.0)
    reader = ReportReader(config.system, TOOLS, kit)

    async def judge(task: Task[EvidenceRubric], rollout: Rollout) -> Reward:
        return await reward_report(task.question, rollout, task.material, config.reward, reader)

    return judge


def make_no_judge(_: AgentRLConfig) -> JudgeRollout[EvidenceRubric]:
    """Return a reward for where rollouts are only sampled."""

    async def judge(task: Task[EvidenceRubric], rollout: Rollout) -> Reward:
        return Reward(0.0)

    return judge


def judge_as_planted(request: ChatRequest) -> str:
    """Answer a judge's prompt by the facts that it shows: a script of `ScriptedModel`.

    A criterion is met in full where the answer has the sentence of its evidence, and no other on the same; else not at all. A
    cited text supports what it says word for word. A sentence needs a citation if it states a fact.
    """
    assert request.response_schema is not None
    shown = {name: text for message in request.messages for name, text in PART_OF_PROMPT.findall(message.content)}
    match request.response_schema.name:
        case "criterion_met":
            return json.dumps({"score": 4 * _is_met(shown["criterion"].split("\n- ")[1], shown["answer"])})
        case "cited_support":
            return json.dumps({"rating": "full" if shown["statement"] in shown["cited_text"] else "none"})
        case "cited_relevance":
            return json.dumps({"result": "yes" if shown["statement"] in shown["cited_text"] else "no"})
        case "needs_citation":
            return json.dumps({"result": "yes" if _find_topic(shown["sentence"]) else "no"})
    raise AssertionError(f"the reward asks for no {request.response_schema.name}")


def _is_met(evidence: str, answer: str) -> bool:
    topic, plain = _find_topic(evidence), SHOWN_TAG.sub("", answer)
    assert topic is not None
    return evidence in plain and plain.count(topic.says) == plain.count(evidence)


def _find_topic(sentence: str) -> Topic | None:
    return next((topic for topic in TOPICS if topic.says in sentence), None)


async def sample_reports(config: AgentRLConfig, works: Sequence[KnownWork], policy: Any) -> list[Rollout]:
    """Return one rollout of each work, as the recipe samples it."""
    return await sample_held_out(list_tasks(works), open_work(config, policy, make_no_judge))


def show_reports(folder: Path, works: Sequence[KnownWork], seed: int, count: int = EXAMPLES) -> list[TrainedConversation]:
    """Return the conversations of the reporter of the mix, in the product's own chain over the tape."""

    def open_reporter(chosen: int) -> ScriptedModel:
        return ScriptedModel(ErringReporter(works, random.Random(chosen)))

    config = describe_rl(Path(TINY), folder / TAPE, seed, WHOLE, Start())
    drawn = random.Random(f"shown {seed}").choices(works, k=count)
    rollouts = asyncio.run(sample_reports(config, drawn, open_reporter))
    return [conversation for rollout in rollouts for conversation in list_conversations(rollout.trajectory)]


def list_told(shown: Sequence[TrainedConversation]) -> list[str]:
    """Return what the policy is told in conversations."""
    return [m.content for conversation in shown for m in conversation.messages if m.role is not ChatRole.ASSISTANT]


def train_agent(path: Path, config: AgentRLConfig, works: Sequence[KnownWork], steps: int) -> Path:
    """Train with a reward; return the folder of the model."""
    from training.recipes.reinforcement.train_policy import PolicyTraining, train_policy

    tasks = repeat_tasks(list_tasks(works), config.run.seed)
    with open_training(path, "agent_rl", config) as folder:
        train_policy(config, folder, PolicyTraining(tasks, steps, lambda policy: open_work(config, policy, make_planted_judge)))
        return folder.model


async def measure(model: Path, start: Start, folder: Path, works: Sequence[KnownWork], seed: int) -> PolicyScores:
    """Score a policy's reports on held-out works, over the tape that holds them."""
    config = describe_rl(model, folder / WHOLE_TAPE, seed, WHOLE, start)
    asked = [works[n % len(works)] for n in range(ITEMS)]
    async with open_saved(model, start, config.rollouts, TEMPERATURE) as policy:
        rollouts = await sample_reports(config, asked, policy)
    findings = read_findings(folder / WHOLE_TAPE)
    return score_answers(
        {rollout.task: count_agent(rollout.trajectory) for rollout in rollouts},
        {f"{n}": work for n, work in enumerate(asked)},
        lambda agent, about: agent.rate(about, findings),
        lambda agent, about: agent.probe(about, findings),
        key=lambda about: about.question,
    )


TASK = AgentTask()
