import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import AnswerInvalid
from workflows.agents.actions import ActionName, make_act_step
from workflows.agents.answer_reading import read_answer, read_text
from workflows.agents.parsing import find_json_values, parse_leniently, remove_thinking, thinking_of
from workflows.agents.plan_repair import PlanAnswer
from workflows.agents.planning import PLAN

ACT = make_act_step(frozenset({"search", "scholar", "browse"}))
SEARCH = '{"thought": "t", "action": "search", "inputs": ["a", "b"]}'


@pytest.mark.parametrize(
    "text",
    [
        SEARCH,
        f"```json\n{SEARCH}\n```",
        f"Sure! Here is my action:\n\n{SEARCH}\n\nHope this helps.",
        f"<think>I could {{finish}} or not</think>\n{SEARCH}",
        f"a thought whose opening tag the template ate</think>{SEARCH}",
        f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{SEARCH}",
        f"<answer>{SEARCH}</answer>",
        '{"thought": "t", "action": "search", "inputs": ["a", "b",],}',
        '{"thought": "t", "action": "search", "inputs": ["a", "b"]',
        "{'thought': 't', 'action': 'search', 'inputs': ['a', 'b']}",
        '{"thought": "t", // why\n "action": "search", "inputs": ["a", "b"]}',
        '{"act": {"thought": "t", "action": "Search", "inputs": ["a", "b"]}}',
        '<tool_call>{"name": "search", "arguments": {"query": ["a", "b"]}}</tool_call>',
        'thinking aloud <tool_call>{"name": "search", "arguments": "{\\"query\\": [\\"a\\", \\"b\\"]}"}</tool_call>',
        '<tool_call>{"name":"search","arguments":{"query":"a"}}</tool_call><tool_call>{"name":"search","arguments":{"query":"b"}}',
        "<function=search><parameter=query>a</parameter></function><function=search><parameter=query>b</parameter></function>",
        "<search>a</search><search>b</search>",
        '[TOOL_CALLS] [{"name": "search", "arguments": {"queries": ["a", "b"]}}]',
        '{"name": "search", "parameters": {"query": ["a", "b"]}}',
        f'<tool_call>{{"name": "act", "arguments": {SEARCH}}}</tool_call>',
        f'{{"name": "act", "arguments": {SEARCH}}}',
        '{"action": {"name": "search", "args": ["a", "b"]}}',
    ],
)
def test_one_act_in_many_notations(text: str) -> None:
    act = read_answer(ACT, text)
    assert (act.action, act.clean_inputs()) == (ActionName.SEARCH, ("a", "b"))


@pytest.mark.parametrize(
    ("text", "action", "inputs"),
    [
        ("<think>enough</think><answer>Tariffs paid the bills.</answer>", ActionName.FINISH, ()),
        ('{"thought": "done", "action": "finish", "inputs": []}', ActionName.FINISH, ()),
        ('{"thought": "done", "action": "final_answer", "inputs": ["x"]}', ActionName.FINISH, ()),
        ('{"action": "google", "inputs": "one query"}', ActionName.SEARCH, ("one query",)),
        (
            '<tool_call>{"name":"browse","arguments":{"url":"http://x","part":3}}</tool_call>',
            ActionName.BROWSE,
            ("http://x part 3",),
        ),
        ('{"action": "search", "query": " spaced  "}', ActionName.SEARCH, ("spaced",)),
    ],
)
def test_what_an_act_means(text: str, action: ActionName, inputs: tuple[str, ...]) -> None:
    act = read_answer(ACT, text)
    assert act.action is action
    assert action is ActionName.FINISH or act.clean_inputs() == inputs


@pytest.mark.parametrize("text", ["", "I would search for tariffs.", "{}", "[]", '{"unexpected": 1}', "<think>only thoughts"])
def test_no_act_is_said_to_be_none(text: str) -> None:
    with pytest.raises(AnswerInvalid):
        read_answer(ACT, text)


def test_a_tool_call_inside_thinking_is_no_tool_call() -> None:
    text = '<think><tool_call>{"name": "browse", "arguments": {"url": "x"}}</tool_call></think><answer>done</answer>'
    assert read_answer(ACT, text).action is ActionName.FINISH


@pytest.mark.parametrize("arguments", ['{"subtasks": ["Who paid?"]}', '"{\\"subtasks\\": [\\"Who paid?\\"]}"'])
@pytest.mark.parametrize(
    "call",
    [
        '<tool_call>\n{"name": "plan", "arguments": ARGUMENTS}\n</tool_call>',
        '{"name": "x", "arguments": ARGUMENTS}',
        '[TOOL_CALLS] [{"name": "plan", "arguments": ARGUMENTS}]',
        '[{"type": "function", "function": {"name": "plan", "parameters": ARGUMENTS}}]',
    ],
)
def test_the_arguments_of_a_call_are_the_answer(call: str, arguments: str) -> None:
    assert read_answer(PLAN, call.replace("ARGUMENTS", arguments)).subtasks[0].question == "Who paid?"


def test_the_error_names_the_field() -> None:
    with pytest.raises(AnswerInvalid, match="subtasks"):
        read_answer(PLAN, '{"title": "x", "subtasks": [5]}')


def test_bare_strings_and_lists_stand_for_what_they_mean() -> None:
    plan = PlanAnswer.model_validate(["What were tariffs for?", {"question": "Who paid?", "depends_on": "s1"}])
    assert [s.question for s in plan.subtasks] == ["What were tariffs for?", "Who paid?"]
    assert plan.subtasks[1].depends_on == ("s1",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plain **text**.", "Plain **text**."),
        ("<think>hm</think>\n\nText.", "Text."),
        ("<answer>\nText.\n</answer> bye", "Text."),
        ("```markdown\n# T\n\nText.\n```", "# T\n\nText."),
        ("Text with\n```\ncode\n```\ninside.", "Text with\n```\ncode\n```\ninside."),
        ('{"section": "Long text [q1]."}', "Long text [q1]."),
    ],
)
def test_free_text_is_unwrapped(text: str, expected: str) -> None:
    assert read_text(text) == expected


def test_thinking_is_told_apart_from_speech() -> None:
    assert thinking_of("<think>why</think>what") == "why"
    assert remove_thinking("<think>a</think><think>b</think>y") == "y"
    assert remove_thinking("no tags, 1 < 2") == "no tags, 1 < 2"


@pytest.mark.parametrize(
    "thinking",
    [
        "[THINK]{}[/THINK]",
        "<seed:think>{}</seed:think>",
        "◁think▷{}◁/think▷",
        "<thinking>\n{}\n</thinking>\n",
        "<|begin_of_thought|>{}<|end_of_thought|>\n\n",
        "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
        "analysis{}assistantfinal",
        "<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>",
        "{}\n</think>\n\n",
        "\n<think>{}</think><reasoning>{}</reasoning>",
    ],
)
@pytest.mark.parametrize("said", ["The lamp burns [q1].", '{"lamp": "burns"}'])
def test_thinking_in_any_marks_is_taken_out_of_the_beginning(thinking: str, said: str) -> None:
    written = thinking.replace("{}", "The keeper asks. I shall be brief.") + said
    assert remove_thinking(written) == said
    assert "I shall be brief." in thinking_of(written)
    assert remove_thinking(f"{said}<|im_end|>") == said


@pytest.mark.parametrize(
    "said",
    [
        "The model opens with a <think> tag [q1]. Its lamp burns.",
        "It closes with </think> and then answers.\n\nIts lamp burns.",
        "Between `<think>` and `</think>`\nit thinks; its lamp burns.",
        "# What <think> is\n\nA [THINK] mark opens it, [/THINK] closes it. Its lamp burns.",
        "[Analysis] of the lamp: it burns.",
        "[Thinking of lamps] they burn.",
        "Analysis of the lamp: it burns.",
        "A token such as <|im_end|> ends it; its lamp burns.",
    ],
)
def test_a_text_that_mentions_the_marks_of_thinking_stays_whole(said: str) -> None:
    assert (remove_thinking(said), thinking_of(said)) == (said, "")


def test_repair_does_not_touch_what_stands_in_strings() -> None:
    assert parse_leniently('{"a": "x, ] None // y",}') == {"a": "x, ] None // y"}


@given(st.text(alphabet="{}[]\",:\\ \nabT<>/think`1'", max_size=200))
def test_any_text_can_be_read_without_an_exception(text: str) -> None:
    list(find_json_values(remove_thinking(text)))


@pytest.mark.parametrize(
    "piece",
    ["{", '{"a":"', "<think>", "```\n", '"\\', "'a'", "<answer>", "[1,", "<tool_call>", "<function=a>", "<|a_b|>", "</think>"],
)
def test_reading_stays_linear(piece: str) -> None:
    began = time.process_time()
    with pytest.raises(AnswerInvalid):
        read_answer(PLAN, piece * (200_000 // len(piece)))
    assert time.process_time() - began < 20  # it takes milliseconds; a quadratic reader would take minutes
