"""What no reader may get of a model's answer, and what is none of it."""

import json

import pytest

from tests.workflows.agent_kit import PROMPTS
from workflows.checks.answer_faults import AnswerFault, PromptWords, find_answer_fault, find_loop, find_loop_at_end

OURS = PromptWords.of(PROMPTS.literals)
SENTENCE = "The message of the year repeats that the revenue of the treasury was larger than what the government needs. "
PROSE = " ".join(
    f"In the year {1820 + i} the {first} of the {second} asked for a {third} duty, and the {second} gave {i * 37} reasons for it."
    for i, (first, second, third) in enumerate(
        zip(
            [
                "senators",
                "makers",
                "planters",
                "clerks",
                "owners",
                "friends",
                "enemies",
                "readers",
                "writers",
                "agents",
                "keepers",
                "leaders",
            ]
            * 3,
            ["north", "south", "coast", "capital", "house", "bank", "mint", "navy", "army", "west", "east", "court"] * 3,
            ["higher", "lower", "wider", "plainer", "fairer", "newer", "older", "first", "second", "third", "last", "single"] * 3,
            strict=True,
        )
    )
)

HELD = "The bank was a bank of the United States and held capital."
LAWS = tuple(enumerate(word.strip(",.") for word in PROSE.split()[:45]))


def _write_chinese(number: int) -> str:
    return "".join("〇一二三四五六七八九"[int(figure)] for figure in str(number))


def fault_of(text: str, ended: str = "stop", form: str = "") -> AnswerFault | None:
    found = find_answer_fault(text, ended, OURS, form)
    return found.fault if found else None


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE * 12,
        json.dumps({"quotes": [{"passage": "p1", "text": SENTENCE}] * 12}),
        json.dumps({"answer": PROSE + " " + SENTENCE * 12}),
        json.dumps({"answer": "关税法是为了保护国内制造业而制定的，财政部的收入因此增加。" * 12}, ensure_ascii=False),
        '{"answer": "' + "\n" * 900,
        "a" * 900,
        "| --- " * 200,
        (PROSE[:1_500] + " ") * 6,
        "\n".join(f"{i}. {HELD}" for i in range(1, 300)),
        " ".join(f"{i}. {HELD}" for i in range(1, 20)),
        json.dumps({"subtasks": [{"id": f"s{i}", "question": HELD, "depends_on": []} for i in range(199)]}),
        json.dumps({"subtasks": [{"id": i, "title": "The bank", "question": HELD} for i in range(199)]}, indent=1),
        json.dumps(
            {"gaps": [f"The passages do not say what the revenue of the treasury was in {1700 + i}." for i in range(200)]}
        ),
        "\n".join(
            f"第{n}条 该银行是美国的一家银行，持有联邦政府的资本，并向各州发行纸币。" for n in map(_write_chinese, range(100))
        ),
        "The bank was founded in 1816. " * 12,
        json.dumps({"answer": "The bank was founded in 1816. " * 12}),
        json.dumps({"answer": "- The bank was founded in 1816.\n" * 12}),
        "The revenue of the treasury was larger than what the whole government needs. " * 9,
        "银行成立于一八一六年。" * 12,
    ],
)
def test_a_loop_is_found_wherever_it_stands(text: str) -> None:
    assert find_loop(text)
    assert fault_of(text) is AnswerFault.LOOP


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        json.dumps([{"claim": i, "verdict": "none", "reason": "The passages do not say so.", "softened": ""} for i in range(40)]),
        "| a | b |\n|---|---|\n" + "".join(f"| row {i} | yes | no | yes | no |\n" for i in range(60)),
        f"{PROSE} In other words: {PROSE[:600]}",
        SENTENCE * 3,
        "| Year | Cotton | Wool | Bread |\n|---|---|---|---|\n"
        + "".join(f"| {1790 + i} | {i % 7 + 9}.{i % 10} | {i % 5 + 20} | 0.{i % 4 + 1}5 |\n" for i in range(120)),
        "| 年份 | 棉花价格 | 羊毛价格 |\n|---|---|---|\n"
        + "".join(f"| {1790 + i}年 | {i % 7 + 9}.{i % 10}元 | {i % 5 + 20}元 |\n" for i in range(120)),
        "".join(
            f"- G{101 + 2 * i} Beijing South {6 + i // 4:02}:{i % 4 * 15:02} to Shanghai {12 + i // 4:02}:10\n" for i in range(60)
        ),
        "".join(f"- G{101 + 2 * i}次 北京南 {6 + i // 4:02}:{i % 4 * 15:02} 上海虹桥 {12 + i // 4:02}:10\n" for i in range(60)),
        "".join(f"{i}. Act of March {i % 28 + 1}, {1790 + i}, chapter {i * 7}, 1 Stat. {i * 9}: {word}.\n" for i, word in LAWS),
        "".join(f"第{i}号法令，{1790 + i}年3月{i % 28 + 1}日颁布，第{i * 7}章，第{i * 9}页。\n" for i, _ in LAWS),
        "".join(
            f"{i}. An Act making appropriations for the support of the Government for the year {1790 + i}.\n" for i in range(30)
        ),
        "\n".join(f"In {1790 + i} the population of the city was {i * 3_137}." for i in range(60)),
        json.dumps([{"claim": i, "reason": f"The passages do not say so. They end in {1800 + i}."} for i in range(40)]),
        "| Country | Duty | Why |\n|---|---|---|\n"
        + "".join(f"| {word} | none | The sources give no figure for this country. |\n" for _, word in LAWS),
        "".join(f"{PROSE[i * 110 : i * 110 + 330]}. Not relevant to the question. " for i in range(12)),
    ],
)
def test_plain_answers_are_no_loops(text: str) -> None:
    assert not find_loop(text)
    assert fault_of(text) is None


def test_a_stream_that_begins_to_loop_is_noticed_at_its_end_and_prose_never_is() -> None:
    assert not any(find_loop_at_end(PROSE[:end]) for end in range(0, len(PROSE), 300))
    assert find_loop_at_end(PROSE + SENTENCE * 8)
    assert find_loop_at_end(PROSE + "".join(f"{i}. {HELD}\n" for i in range(12)))
    assert find_loop_at_end(PROSE + "".join(f'{{"id": {i}, "gap": "What was the revenue of year {i}?"}},' for i in range(80)))


@pytest.mark.parametrize(
    "text",
    [
        "Tariffs rose [q1].\n\n<evidence>\nmore",
        '<quote id="q1" source="Message">These laws raise the price</quote>',
        "<title>Tariffs</title> They rose [q1].",
        "### Points to Make\n\nTariffs rose [q1].",
        json.dumps({"heading": "Points to Make", "text": "x"}),
        "**Disagreements to state:**\nnone",
        "要写的要点：\n关税上升",
        "You are one of the writers of a research report. Colleagues write the other sections at the same moment; you write one.",
    ],
)
def test_an_echo_of_the_prompt_or_its_form_is_found(text: str) -> None:
    assert fault_of(text) is AnswerFault.ECHO


def test_a_field_that_still_holds_its_description_is_an_echo() -> None:
    form = '{"thought": "<what is known, what is missing>", "action": "search | finish"}'
    assert fault_of('{"thought": "<what is known, what is missing>", "action": "search"}', form=form) is AnswerFault.ECHO


@pytest.mark.parametrize(
    "text",
    [
        "In HTML the `<title>` element names the page [q1].",
        "```html\n<title>x</title>\n```",
        '<tool_call>{"name": "search", "arguments": {"query": ["tariff"]}}</tool_call>',
        "## The outline\n\nIt was drawn in 1824 [q1]. If x < y and y > z, prices fall.",
    ],
)
def test_what_an_answer_may_hold_is_no_echo(text: str) -> None:
    assert fault_of(text) is None


def test_an_answer_that_the_server_cut_is_a_fault_however_well_it_reads() -> None:
    assert fault_of(PROSE, "length") is AnswerFault.CUT
    assert fault_of(SENTENCE * 12, "length") is AnswerFault.LOOP, "more room would only make it longer"
