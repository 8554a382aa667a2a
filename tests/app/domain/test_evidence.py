from hypothesis import given
from hypothesis import strategies as st

from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.evidence import content_key
from app.domain.trajectory import request_digest


@given(st.lists(st.text()), st.lists(st.text()))
def test_different_parts_have_different_keys(one: list[str], other: list[str]) -> None:
    assert (content_key(*one) == content_key(*other)) == (one == other)


def test_a_digest_tells_requests_apart() -> None:
    def digest(text: str, tokens: int = 10, model: str = "m", seed: int | None = None) -> str:
        said = (Message(role=ChatRole.USER, content=text),)
        return request_digest(ChatRequest(messages=said, max_tokens=tokens, seed=seed), model)

    assert digest("a") == digest("a")
    others = (digest("b"), digest("a", tokens=11), digest("a", model="n"), digest("a", seed=0), digest("a", seed=1))
    assert len({digest("a"), *others}) == 6


def test_a_digest_of_an_earlier_version_still_answers() -> None:
    """What is stored was paid for: a change of this value would have every stage under way ask again."""
    said = (Message(role=ChatRole.SYSTEM, content="Be brief."), Message(role=ChatRole.USER, content="谁写的？"))
    digest = request_digest(ChatRequest(messages=said, max_tokens=10, stop=("a",)), "m")
    assert digest == "4801983fbe6dd909408b01e9ad21f2d0bf578cf3f6e995f38022afad05f6aa28"
