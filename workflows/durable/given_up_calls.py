"""Booking what a call cost that was given up, under a name of its own: `search/s1/given_up`."""

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, Completion
from app.domain.trajectory import Turn
from workflows.chat_models.call_watch import CallWatch
from workflows.chat_models.endpoint import ModelPrices
from workflows.chat_models.estimating import estimate_usage
from workflows.systems.stored_turns import StoredTurns

GIVEN_UP = "given_up"


def make_given_up_turn(turn: Turn, request: ChatRequest, model: str, watch: CallWatch, prices: ModelPrices) -> Turn:
    """Return the turn that books a call which would have become `turn`: its prompt and what was heard, both estimated."""
    text = watch.read()
    guess = estimate_usage(request, text)
    usage = prices.bill(guess.input_tokens, guess.output_tokens)
    completion = Completion(text=text, model=model, finish_reason=GIVEN_UP, usage=usage, estimated=True)
    booked = {"agent": f"{turn.agent}/{GIVEN_UP}", "step": GIVEN_UP, "carried": 0, "messages": (), "completion": completion}
    return turn.model_copy(update=booked)


def sum_given_up(stored: StoredTurns) -> Usage:
    """Return what the stage's given-up calls used: these turns are not asked for again."""
    booked = (turn.completion.usage for turn in stored.all if turn.step == GIVEN_UP and turn.completion)
    return sum(booked, Usage())
