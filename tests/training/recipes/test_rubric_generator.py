"""The rubric generator: its reward by hand, and its mechanics through the command."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import date, timedelta
from pathlib import Path

import pytest

from app.domain.errors import ContextTooLong, ModelError, ModelUnavailable
from app.domain.missing import Missing
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import Language, ResearchQuery
from app.domain.rubric import Rubric
from app.domain.rubric_score import Aggregation
from app.domain.split import Split
from tests.support.stack import run_rubrica
from tests.training.recipes.toy_runs import OFFLINE, cut_off, read_curves, write_toy
from training.recipes.catalogue import load_recipe
from training.recipes.config import read_config
from training.recipes.rubric_generator.config import Mode, RewardSection, RubricGeneratorConfig, Scaling
from training.recipes.rubric_generator.data import read_tasks
from training.recipes.rubric_generator.reward import PreferredPair, reward_rubric
from training.recipes.rubric_generator.rule_judge import RuleJudge
from training.recipes.run_folder import TrainingFolder
from training.recipes.starting import train as go_on
from training.rewards.score import Score
from training.rollouts.collection_failures import CollectionFailed
from training.rollouts.nouns import Reward, Task
from training.rollouts.rollout_work import Draw
from workflows.agents.codec import TagCodec
from workflows.agents.kit import Kit
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.rubric_generation import draft_rubric, list_parts
from workflows.judging.rubric_judge import RubricScores
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord

PAIR = PreferredPair("How deep is the harbour?", "accepted", "rejected")
OPENINGS = {5: "Key", 3: "Important", 1: "Optional", -2: "Error"}


def write_rubric(weights: list[int], demand: str = "names the harbour") -> str:
    """Write a rubric with these weights, in form."""
    items = [
        {
            "title": f"item {n}",
            "description": f"{OPENINGS[weight]} Criterion: the report {demand} {'x' * (n + 1)}.",
            "weight": weight,
        }
        for n, weight in enumerate(weights)
    ]
    return f"<think>So.</think><answer>{json.dumps(items)}</answer>"


class KnownJudge:
    """A judge whose ratings are given: of the first item by report, of the others .5; and of the rubric."""

    def __init__(self, accepted: float, rejected: float, quality: Score) -> None:
        self._first, self._quality = {"accepted": accepted, "rejected": rejected}, quality
        self.asked: list[str] = []
        self.is_away = False

    async def score(self, question: str, report: str, rubric: Rubric) -> RubricScores:
        self.asked.append(report)
        if self.is_away:
            return RubricScores(tuple(float(item.weight) for item in rubric.criteria), (Missing("away"),) * len(rubric.criteria))
        others = (0.5,) * (len(rubric.criteria) - 1)
        return RubricScores(tuple(float(item.weight) for item in rubric.criteria), (self._first[report], *others))

    async def rate(self, question: str, rubric: Rubric) -> Score:
        self.asked.append("rubric")
        return self._quality


def reward(text: str, judge: KnownJudge | RuleJudge, section: RewardSection, pair: PreferredPair = PAIR) -> Reward:
    return asyncio.run(reward_rubric(text, pair, judge, section))


SEVEN = [5, 3, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("scaling", "accepted", "value"),
    # Eq. 1: 1 + 3 + 0, or with the quality from -1 to 1: 1 + .5; and -1 + 3, -1 + .5 where the preference is missed.
    [(Scaling.PUBLISHED, 0.9, 4.0), (Scaling.BALANCED, 0.9, 1.5), (Scaling.PUBLISHED, 0.1, 2.0), (Scaling.BALANCED, 0.1, -0.5)],
)
def test_a_rubric_is_rewarded_for_preference_and_quality(scaling: Scaling, accepted: float, value: float) -> None:
    found = reward(write_rubric(SEVEN), KnownJudge(accepted, 0.2, 3.0), RewardSection(scaling=scaling))
    assert found.value == value
    assert found.parts["quality"] == 3.0
    assert {found.parts["total_published"], found.parts["total_balanced"]} == {
        value,
        value - 2.5 if value in (4.0, 2.0) else value + 2.5,
    }


def test_a_tie_is_no_preference() -> None:
    assert reward(write_rubric(SEVEN), KnownJudge(0.4, 0.4, 0.0), RewardSection()).value == -1.0


@pytest.mark.parametrize(("aggregation", "value"), [(Aggregation.PUBLISHED, 1.0), (Aggregation.BOUNDED, -1.0)])
def test_both_forms_of_equation_2_rank_by_it(aggregation: Aggregation, value: float) -> None:
    # Weights -2 x 8 and 5, 1: the published sum of weights is negative, so that the higher rating scores higher divided by it.
    text = write_rubric([-2, 5, 1, -2, -2, -2, -2, -2])
    section = RewardSection(mode=Mode.PREFERENCE_ONLY, aggregation=aggregation)
    assert reward(text, KnownJudge(0.9, 0.2, 0.0), section).value == value


@pytest.mark.extra("trl")
def test_a_rubric_whose_weights_cancel_out_ranks_the_pair_wrongly(tmp_path: Path) -> None:
    text = write_rubric([5, 1, 1, 1, -2, -2, -2, -2])
    section = RewardSection(mode=Mode.PREFERENCE_ONLY, aggregation=Aggregation.PUBLISHED)
    judge = KnownJudge(0.9, 0.2, 3.0)
    assert (reward(text, judge, section).value, judge.asked) == (-1.0, [])
    from training.recipes.reinforcement.best_policy import BY
    from training.recipes.rubric_generator.work import measure_preference

    config = read_config(write_toy(tmp_path, "rubric_generator"), RubricGeneratorConfig)
    config = config.model_copy(update={"reward": section})
    told = [Task("t", PAIR.question, Language.ENGLISH, PAIR)]
    measured = asyncio.run(measure_preference(config, told, tmp_path, date(2026, 1, 1), lambda _: ScriptedModel([text])))
    assert (measured[BY], measured[f"{BY}_readable"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("mode", "asked", "value"),
    [(Mode.JUDGE_ONLY, ["rubric"], 3.0), (Mode.PREFERENCE_ONLY, ["accepted", "rejected"], 1.0)],
)
def test_what_has_no_weight_is_not_judged(mode: Mode, asked: list[str], value: float) -> None:
    judge = KnownJudge(0.9, 0.2, 3.0)
    assert reward(write_rubric(SEVEN), judge, RewardSection(mode=mode)).value == value
    assert judge.asked == asked


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("<answer>", ""),
        lambda text: text + " That is all.",
        lambda text: text.replace("Key Criterion", "Main Criterion"),
        lambda text: "",
    ],
)
@pytest.mark.parametrize(("mode", "value"), [(Mode.HYBRID, -2.0), (Mode.JUDGE_ONLY, -1.0), (Mode.PREFERENCE_ONLY, -2.0)])
def test_a_rubric_out_of_form_is_penalised_unjudged(spoil, mode: Mode, value: float) -> None:  # type: ignore[no-untyped-def]
    judge = KnownJudge(0.9, 0.2, 4.0)
    assert reward(spoil(write_rubric(SEVEN)), judge, RewardSection(mode=mode)).value == value
    assert judge.asked == []


@pytest.mark.extra("trl")
def test_a_validation_says_how_many_pairs_have_no_judgement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from training.recipes.held_out import MISSING
    from training.recipes.rubric_generator import work

    @asynccontextmanager
    async def open_judge(*_: object) -> AsyncIterator[object]:
        yield lambda _: judge

    monkeypatch.setattr(work, "open_judge", open_judge)
    judge = KnownJudge(0.9, 0.2, 3.0)
    config = read_config(write_toy(tmp_path, "rubric_generator"), RubricGeneratorConfig)
    told = [Task(f"t{n}", PAIR.question, Language.ENGLISH, PAIR) for n in range(2)]
    texts = [write_rubric(SEVEN), "no rubric"]

    def measure() -> Mapping[str, float]:
        drawn = iter(texts)
        asked = work.measure_preference(config, told, tmp_path, date(2026, 1, 1), lambda _: ScriptedModel([next(drawn)]))
        return asyncio.run(asked)

    assert measure()[MISSING] == 0.0
    judge.is_away = True
    assert measure()[MISSING] == 0.5
    texts = [write_rubric(SEVEN)] * 2
    with pytest.raises(CollectionFailed, match="no pair has a judgement"):
        measure()


@pytest.mark.extra("trl")
@pytest.mark.parametrize(
    ("error", "accuracy", "missing"),
    [(ContextTooLong("2,100 of 2,048 tokens"), 0.5, 0.0), (ModelUnavailable("no memory", timedelta(hours=1)), 1.0, 0.5)],
)
def test_a_validation_goes_on_where_the_policy_cannot_write_a_rubric(
    tmp_path: Path, error: ModelError, accuracy: float, missing: float
) -> None:
    from training.recipes.held_out import MISSING
    from training.recipes.reinforcement.best_policy import BY
    from training.recipes.rubric_generator.work import measure_preference

    config = read_config(write_toy(tmp_path, "rubric_generator"), RubricGeneratorConfig)
    pair = PreferredPair("How deep is the harbour?", "It is.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "It is so and so.")
    told = [Task(f"t{n}", pair.question, Language.ENGLISH, pair) for n in range(2)]
    answers: Iterator[str | ModelError] = iter([write_rubric(SEVEN, "has a table"), error])
    asked = measure_preference(config, told, tmp_path, date(2026, 1, 1), lambda _: ScriptedModel([next(answers)]))
    measured = asyncio.run(asked)
    assert (measured[BY], measured[MISSING]) == (accuracy, missing)


def test_a_judge_that_is_away_leaves_no_reward() -> None:
    assert isinstance(reward(write_rubric(SEVEN), KnownJudge(0.9, 0.2, Missing("away")), RewardSection()).value, Missing)


def test_the_rule_judge_sees_a_planted_property() -> None:
    pair = PreferredPair("How deep is the harbour?", "It is.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "It is so and so.")
    section = RewardSection(mode=Mode.PREFERENCE_ONLY)
    assert reward(write_rubric(SEVEN, "has a table"), RuleJudge(), section, pair).value == 1.0
    assert reward(write_rubric(SEVEN, "has a quotation"), RuleJudge(), section, pair).value == -1.0


@pytest.mark.parametrize(
    ("demand", "quality"),
    [("has a table", 4.0), ("says how deep the harbour is", 0.0), ("has a table, headings and limits", 0.0)],
)
def test_the_rule_judge_pays_for_what_can_be_checked_and_not_for_the_questions_words(demand: str, quality: float) -> None:
    assert reward(write_rubric(SEVEN, demand), RuleJudge(), RewardSection(mode=Mode.JUDGE_ONLY)).value == quality


@pytest.mark.extra("trl")
def test_the_recipe_trains_and_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    config = write_toy(tmp_path, "rubric_generator")
    done = run_rubrica(
        tmp_path / "home", "train", "rubric_generator", "--config", str(config), "--out", str(tmp_path / "a"), **OFFLINE
    )
    assert done.returncode == 0, done.stderr
    whole = TrainingFolder(tmp_path / "a")
    curves = read_curves(whole)
    assert {"reward", "entropy", "part/format", "part/preference", "validation"} <= {
        name for _, values in curves for name in values
    }
    assert (whole.model / "adapter_config.json").exists()
    again = go_on("rubric_generator", config, cut_off(whole.path, 1, tmp_path / "cut"), None, lambda _: None)
    assert read_curves(again) == curves


@pytest.mark.extra("trl")
@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("titles", [("Revenue", "Protection"), ()])
async def test_the_prompt_that_is_trained_is_the_served_one(language: Language, titles: tuple[str, ...], tmp_path: Path) -> None:
    """The same bytes for the same question and plan; where there is no plan, on both sides the text without titles.

    Only the most tokens of the answer are the recipe's own.
    """
    from training.recipes.rubric_generator.work import open_work

    question, today, answer = "Why were tariffs raised?", date(2026, 1, 2), "<answer>{}</answer>"
    subtasks = tuple(Subtask(id=f"s{n}", title=title, question=title) for n, title in enumerate(titles))
    parts = list_parts(ResearchPlan(subtasks=subtasks)) if subtasks else ()
    served, trained = ScriptedModel(lambda _: answer), ScriptedModel(lambda _: answer)
    kit = Kit(served, {}, LocalRecord("s"), PromptLibrary.load(), TagCodec(), today, lambda: 0.0, language=language)
    await draft_rubric(ResearchQuery(question=question, language=language), kit, parts)
    rows = tmp_path / "preference-pairs/train/rows.jsonl"
    config = read_config(write_toy(tmp_path, "rubric_generator"), load_recipe("rubric_generator").config)
    told = {"query": question, "language": language, "parts": titles}
    lines = [json.loads(line) | told for line in rows.read_bytes().splitlines()]
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines))
    manifest = rows.parents[1] / "manifest.json"
    made = json.loads(manifest.read_text())
    made["files"]["train/rows.jsonl"] = hashlib.sha256(rows.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(made))
    task = read_tasks(config, Split.TRAIN)[0]
    async with open_work(config, tmp_path, today, lambda _: trained) as work:
        await work.run(Draw(task, 0, 0, 0, 0), LocalRecord("t"))
    assert trained.requests[0] == served.requests[0].model_copy(update={"max_tokens": config.rollouts.most_tokens})
    assert all(title in trained.requests[0].messages[1].content for title in titles)
