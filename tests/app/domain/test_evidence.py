from hypothesis import given
from hypothesis import strategies as st

from app.domain.chat import ChatRequest, Message, Role
from app.domain.evidence import content_key
from app.domain.trajectory import request_digest


@given(st.lists(st.text()), st.lists(st.text()))
def test_different_parts_have_different_keys(one: list[str], other: list[str]) -> None:
    assert (content_key(*one) == content_key(*other)) == (one == other)


def test_a_digest_tells_requests_apart() -> None:
    def digest(text: str, tokens: int = 10, model: str = "m") -> str:
        return request_digest(ChatRequest(messages=(Message(role=Role.USER, content=text),), max_tokens=tokens), model)

    assert digest("a") == digest("a")
    assert len({digest("a"), digest("b"), digest("a", tokens=11), digest("a", model="n")}) == 4
