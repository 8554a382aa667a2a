from hypothesis import given
from hypothesis import strategies as st

from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.trajectory import Turn, TurnKind, request_digest
from workflows.systems.stored_turns import StoredTurns

GROWTH = st.tuples(st.integers(0, 6), st.lists(st.text(max_size=3), max_size=3), st.sampled_from("mmmn"))


@given(st.lists(GROWTH, max_size=6))
def test_requests_of_a_conversation_have_the_digests_they_have_by_themselves(growths: list[tuple[int, list[str], str]]) -> None:
    """Whether it grows, is cut short, begins anew or goes to another model."""
    stored = StoredTurns(())
    messages: tuple[Message, ...] = ()
    for kept, texts, model in growths:
        messages = (*messages[:kept], *(Message(role=ChatRole.USER, content=text) for text in texts))
        request = ChatRequest(messages=messages)
        _, carried = stored.count_carried("search/s1", messages)
        assert stored.digest_request("search/s1", request, model, carried) == request_digest(request, model)


def turn(ordinal: int, digest: str) -> Turn:
    return Turn(agent="a", ordinal=ordinal, kind=TurnKind.MODEL, step="act", digest=digest)


def test_turns_are_counted_from_zero_and_replayed_while_they_are_there() -> None:
    stored = StoredTurns([turn(0, "x"), turn(1, "y")])
    assert stored.has_next("a")
    assert not stored.has_next("b")
    assert [stored.claim_ordinal("a"), stored.claim_ordinal("b")] == [0, 0]
    assert stored.find_answer("a", 0, "x") == turn(0, "x")
    assert stored.has_next("a")
    assert stored.claim_ordinal("a") == 1
    assert not stored.has_next("a")
