"""The text of an answer comes in pieces of whole characters that together are the text, up to a stop string."""

import pytest

pytest.importorskip("trl", reason="serving needs what `make setup-train` installs")

from training.rollouts.tiny_policy import save_tiny_policy
from training.serving.answer_text import AnswerText
from training.serving.prompt_format import PromptFormat, open_prompt_format

pytestmark = pytest.mark.extra("trl")
TEXT = "Tariffs rose; 关税上涨了 🙂👩‍🔬 — naïve."


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> PromptFormat:
    return open_prompt_format(save_tiny_policy(tmp_path_factory.mktemp("policy") / "tiny"), "own")


def encode_bytes(spoken: PromptFormat, raw: bytes) -> list[int]:
    """Return the ids of bytes, one by one, as a byte-level tokenizer writes them."""
    table = {byte: spoken.tokenizer.convert_tokens_to_ids(token) for byte, token in list_byte_tokens()}
    return [table[byte] for byte in raw]


def list_byte_tokens() -> list[tuple[int, str]]:
    """Return GPT-2's printable character of each byte."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [n for n in range(256) if n not in shown]
    return [(n, chr(n)) for n in shown] + [(n, chr(256 + place)) for place, n in enumerate(hidden)]


def read(spoken: PromptFormat, ids: list[int], *stops: str) -> tuple[AnswerText, list[str], int]:
    """Read ids until the answer ends. Return its text, the pieces, and how many ids were read."""
    pieces: list[str] = []
    text = AnswerText(spoken, stops, pieces.append)
    count = next((n for n, id_ in enumerate(ids, 1) if not text.follow(id_)), len(ids))
    text.end(ids[:count])
    return text, pieces, count


@pytest.mark.parametrize("raw", [TEXT.encode(), TEXT.encode()[:-9] + b"\xe4\xbd", b"\xff\xfe a \xe4\xbda\xf0\x9f", b""])
def test_pieces_are_whole_characters_and_together_the_text(spoken: PromptFormat, raw: bytes) -> None:
    ids = encode_bytes(spoken, raw)
    text, pieces, count = read(spoken, ids)
    assert "".join(pieces) == text.text == spoken.template.decode(ids) == raw.decode(errors="replace")
    assert count == len(ids)
    if raw == TEXT.encode():
        assert pieces == list(TEXT)


def test_an_answer_ends_before_the_first_stop_string(spoken: PromptFormat) -> None:
    ids = encode_bytes(spoken, TEXT.encode())
    text, pieces, count = read(spoken, ids, "🙂👩", "上涨了 🙂", "never")
    assert "".join(pieces) == text.text == "Tariffs rose; 关税"
    assert text.stopped_by == "上涨了 🙂"
    assert count == len("Tariffs rose; 关税上涨了 🙂".encode())


def test_half_a_stop_string_is_told_when_it_is_none(spoken: PromptFormat) -> None:
    text, pieces, _ = read(spoken, encode_bytes(spoken, b"one </ans two </ans"), "</answer>")
    assert "".join(pieces) == text.text == "one </ans two </ans"
    assert text.stopped_by is None


def test_the_end_of_a_turn_is_no_text(spoken: PromptFormat) -> None:
    text = AnswerText(spoken, (), lambda _: None)
    assert text.follow(spoken.stop_id)
    assert text.text == ""
