"""Serving what recipes learned: which recipes count, and that the product asks a policy what it learned from."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="serving needs what `make setup-train` installs")

from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.query import SystemName
from bench.learning_tasks import agents, cold_start, dated_reports, searches, short_reports
from bench.learning_tasks.beginnings import Start
from bench.learning_tasks.planted_facts import ErringReporter, plant_facts, record_facts
from bench.learning_tasks.planted_searches import ErringSearcher, plant_works, record_tape
from bench.learning_tasks.rubric_grammar import PlantedQuestion, rate_rubric, write_order
from bench.learning_tasks.short_searches import ForgetfulTeacher, LengthQuestion, record_searches
from bench.served import WAYS, count, read_learned, summarise
from bench.served_tasks.policies import CONTEXT, make_kit, open_policy
from bench.served_tasks.reports import UncriticalRecord, shorten_task, show_as_written, write_report
from bench.served_tasks.rubrics import draft
from bench.served_tasks.searches import DEEPRUBRIC, work_all, work_question
from tests.training.serving.small_server import save_adapter
from training.recipes.rollout_tools import play_tape, read_tape
from training.recipes.search_rl.agent import SEARCH_AGENT
from training.rollouts.tiny_policy import save_tiny_policy
from training.serving.digest import digest_adapter
from training.synthesis.self_samples.prompts import read_row
from workflows.agents.codec import TagCodec
from workflows.agents.kit import Bounds
from workflows.chat_models.scripted import ScriptedModel
from workflows.chat_models.served_book import OpenModel
from workflows.prompts.library import PromptLibrary
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local_record import LocalRecord

pytestmark = pytest.mark.extra("trl")

PROMPTS = PromptLibrary.load()


def open_scripted(model: ScriptedModel) -> OpenModel:
    """Return a scripted model as the book of served models has one."""
    return OpenModel(model, TagCodec(), PROMPTS, AGENTS[SystemName.MINDDR], context_tokens=CONTEXT)


def write_results(path: Path, recipe: str, **figures: float) -> Path:
    """Write the output of the learning bench for one recipe."""
    told = {"baseline": 0.2, "trained": 0.8, "counted_gain": 0.5, "ci_low": 0.4} | figures
    line = json.dumps({"bench": "learning", "figures": {f"{recipe}_{name}": value for name, value in told.items()}})
    path.write_text(f'{{"recipe": "{recipe}", "seed": 1}}\n{line}\n')
    return path


def test_only_recipes_that_learned_are_served(tmp_path: Path) -> None:
    files = [
        write_results(tmp_path / "a", "report_rl"),
        write_results(tmp_path / "b", "self_sft", counted_gain=0.0),
        write_results(tmp_path / "c", "search_rl", ci_low=-0.1),
    ]
    assert read_learned(files) == pytest.approx({"report_rl": 0.6})


@pytest.mark.parametrize(("score", "moved"), [(0.5, 1.0), (0.49, 0.0)])
def test_a_gain_has_moved_when_half_of_it_shows(score: float, moved: float) -> None:
    seeds = [{way: {"sft": [{"score": 0.2}], "trained": [{"score": score}]} for way in WAYS}]
    figures = summarise("report_rl", 0.6, seeds)
    assert count({"report_rl": 0.6, "self_sft": 0.1}, figures) == {
        "learned": 2.0,
        "recipes": 1.0,
        "moved": moved,
        "cool_moved": moved,
    }


def test_the_seeds_of_a_recipe_count_alike() -> None:
    low, high = (
        {way: {"sft": [{"score": 0.0}] * n, "trained": [{"score": score}] * n} for way in WAYS}
        for n, score in ((9, 0.0), (1, 1.0))
    )
    assert summarise("report_rl", 0.6, [low, high])["report_rl_gain"] == pytest.approx(0.5)


async def test_the_writer_is_asked_with_the_prompt_from_which_dated_reports_were_learned() -> None:
    question = dated_reports.DatedQuestion("Ashford", ("pier", "mill"), (2019, 2031))
    right = "# Ashford\n\nIn 2019 the pier was finished [q1]. In 2031 the mill will be finished [q2]."
    table = "\n\n| work | year |\n|---|---|\n| pier | 2019 |\n| mill | 2031 |\n"
    model = ScriptedModel([f"<answer>{right}{table}</answer>"])
    kit = make_kit(open_scripted(model), UncriticalRecord("1"))
    written = await write_report(kit, question.text, question.row["retrieval"])
    learned = read_row(question.row, PROMPTS, dated_reports.TODAY)
    assert learned is not None
    assert say_all(model.requests[0].messages) == say_all(learned.messages)
    assert dated_reports.rate_report(written, question)["score"] == 1.0, written


async def test_a_table_that_the_product_repairs_is_sound_for_its_reader() -> None:
    question = dated_reports.DatedQuestion("Ashford", ("pier", "mill"), (2019, 2031))
    text = "# Ashford\n\nIn 2019 the pier was finished [q1].\n\n| work | year |\n|---|\n| pier | 2019 |\n| mill | 2031 |\n"
    kit = make_kit(open_scripted(ScriptedModel([f"<answer>{text}</answer>"])), UncriticalRecord("1"))
    written = await write_report(kit, question.text, question.row["retrieval"])
    assert dated_reports.rate_report(text, question)["table"] == 0.0
    assert dated_reports.rate_report(show_as_written(written), question)["table"] == 1.0


async def test_the_writer_is_shown_short_reports_as_they_were_learned_and_a_right_one_stays_right() -> None:
    question = short_reports.PortQuestion("Ashford", ("pier", "mill"))
    model = ScriptedModel([f"<answer>{question.write_right()}</answer>"])
    kit = make_kit(open_scripted(model), UncriticalRecord("1"))
    written = await write_report(kit, question.row.query, [dict(text) for text in question.row.retrieval])
    assert say_all(shorten_task(model.requests[0].messages)) == say_all(question.render(PROMPTS))
    assert short_reports.rate_report(written, question)["score"] == 1.0, written


async def test_a_report_that_nobody_can_use_is_none_of_the_policy() -> None:
    kit = make_kit(open_scripted(ScriptedModel(["<answer># A</answer>"] * 2)), LocalRecord("1"))
    assert await write_report(kit, "What?", [{"url": "", "title": "A", "text": "The pier was built."}]) == ""


async def test_searches_are_asked_as_they_were_learned() -> None:
    asked = LengthQuestion("Ashford", "pier", 110)
    learned, served = (ScriptedModel(ForgetfulTeacher(asked, random.Random(1)).answer) for _ in range(2))
    await cold_start.work_question(asked, learned, PROMPTS, 1)
    record = LocalRecord("1")
    kit = make_kit(
        open_scripted(served),
        record,
        play_tape(record_searches([asked]))(),
        cold_start.LIMITS,
        Bounds(shorten_conversations=False),
    )
    await work_question(asked.text, AGENTS[SystemName.DEEPRUBRIC], kit, record)
    assert [say_all(each.messages) for each in served.requests] == [say_all(each.messages) for each in learned.requests]


async def test_planted_searches_are_asked_as_they_were_learned(tmp_path: Path) -> None:
    about, tape = plant_works(1)[0][0], tmp_path / searches.TAPE
    record_tape([about]).save(tape)
    config = searches.describe_rl(Path("base"), tape, 1, searches.FORM_ALONE, Start())
    learned, served = (ScriptedModel(ErringSearcher([about], random.Random(1), 1.0, 1.0)) for _ in range(2))
    await searches.sample_searches(config, tmp_path, [about], lambda _: learned)
    await work_all(open_scripted(served), [about.question], SEARCH_AGENT, config.chain, play_tape(read_tape(tape)))
    assert len(served.requests) > 2
    assert [say_all(each.messages) for each in served.requests] == [say_all(each.messages) for each in learned.requests]


async def test_planted_reports_are_asked_for_as_they_were_learned(tmp_path: Path) -> None:
    about, tape = plant_facts(1)[0][0], tmp_path / agents.TAPE
    record_facts([about]).save(tape)
    config = agents.describe_rl(Path("base"), tape, 1, agents.WHOLE, Start())
    learned, served = (ScriptedModel(ErringReporter([about], random.Random(1), 1.0, 1.0, 0.0)) for _ in range(2))
    await agents.sample_reports(config, [about], lambda _: learned)
    await work_all(open_scripted(served), [about.question], DEEPRUBRIC, config.chain, play_tape(read_tape(tape)))
    assert len(served.requests) > 2
    assert [say_all(each.messages) for each in served.requests] == [say_all(each.messages) for each in learned.requests]


async def test_a_rubric_is_asked_for_by_its_question_alone_and_only_what_the_policy_wrote_is_rated() -> None:
    question = PlantedQuestion("Compare Ashford with Brindle, in a breath.", "table", "limits")
    model = ScriptedModel([write_order(("table", "limits", "headings", "shorter"))])
    text = await draft(open_scripted(model), question.text)
    assert say_all(model.requests[0].messages) == [("user", question.text)]
    assert [each["weight"] for each in json.loads(text)] == [5, 4, 3, 2], "the product adds three criteria of its own"
    assert rate_rubric(text, question)["score"] == 1.0


async def test_a_rubric_that_the_product_writes_itself_is_none_of_the_policy() -> None:
    assert await draft(open_scripted(ScriptedModel(["no rubric"] * 2)), "Compare Ashford with Brindle.") == ""


def say_all(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Return who says what."""
    return [(message.role.value, message.content) for message in messages]


async def test_whole_weights_and_adapters_are_served_under_the_name_of_their_digest(tmp_path: Path) -> None:
    base = save_tiny_policy(tmp_path / "base")
    request = ChatRequest(messages=(Message(role=ChatRole.USER, content="Why?"),), max_tokens=8)
    said = []
    for model in (base, save_adapter(tmp_path / "adapter", base, 1)):
        async with open_policy(model, base, "report-rl", 1) as at:
            assert at(None).name.endswith(digest_adapter(model)[:12])
            said += [(await at(None).chat.complete(request)).text for _ in range(2)]
    assert said[0] == said[1] != said[2] == said[3]
