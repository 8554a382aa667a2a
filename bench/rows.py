"""`python -m bench.rows [--rollouts N]`: whether training rows hold what the policy sampled.

N random rollouts of each of the four systems, in process over a small corpus: half as the product serves them, half as recipes
train them, with caps, observed faults and nothing replaced. The policy is one of the scripted policies of
`bench.transcripts` (one obeys, twelve do not), spoilt at random: broken and empty answers, loops, words of special tokens, other
spellings of the same text in ids, ends of turn that come early or not at all. An engine writes its ids with random
log-probabilities; the rows are compared with what that engine was asked and said. `faults` are sampled ids lost, doubled,
unmasked, or misplaced.

`max_gap` is the largest difference between the sampler's log-probability of an id and the one that the trainer computes from
the row, over rollouts that the model itself samples (float32, transformers' `generate`): a tiny random Qwen3.
"""

import argparse
import asyncio
import importlib.util
import random
from collections.abc import Callable, Sequence
from typing import Any

from app.domain.chat import ChatRequest
from app.domain.query import SystemName
from bench.result import print_result, print_skipped
from bench.transcript_policies import list_policies
from tests.support.row_checks import count_row_faults
from tests.support.row_rollouts import run_as_served, run_as_trained
from tests.support.scripted_engine import ScriptedEngine
from training.rollouts.chat_template import ChatTemplate
from training.rollouts.engine import SamplingSettings
from training.rollouts.rows import make_rows
from training.rollouts.sampler import Sampler

ROLLOUTS, SAMPLED_ROLLOUTS = 500, 3
RUNS = (run_as_served, run_as_trained)
CONTEXTS = (4_000, 8_000, 16_000, 32_000)
SAMPLED_TOKENS, SAMPLED_CONTEXT = 48, 6_000
ODD_TEXTS = ("", " ", "<answer>", "<think>", "</answer><answer>", "\x00", "\u5173\u7a0e\ufffd", "the same again " * 40)
CHANCE_SPOILT = 0.3
Ids = list[int]


def make_writer(tokenizer: Any, chance: random.Random) -> Callable[[ChatRequest], Ids]:
    """Make a policy: a scripted one, some of whose answers are spoilt as text and as ids."""
    policy = chance.choice(list_policies())
    special = [id_ for id_, token in tokenizer.added_tokens_decoder.items() if token.special]

    def write(request: ChatRequest) -> Ids:
        text = policy.write(request)
        if chance.random() < CHANCE_SPOILT:
            text = spoil_text(text, [tokenizer.convert_ids_to_tokens(i) for i in special], chance)
        ids, end = spell_text(tokenizer, text, chance), tokenizer.eos_token_id
        return spoil_ids(ids, special, end, chance) if chance.random() < CHANCE_SPOILT else [*ids, end]

    return write


def spoil_text(text: str, special: Sequence[str], chance: random.Random) -> str:
    """Cut a text, repeat it, replace it, or put words of special tokens into it."""
    place = chance.randrange(len(text) + 1)
    ended = f"{text[:place]}{chance.choice(special)}{text[place:]}"
    return chance.choice((text[:place], text + text, chance.choice(ODD_TEXTS), ended))


def spell_text(tokenizer: Any, text: str, chance: random.Random) -> Ids:
    """Return ids of the text, cut at random places first, so that they are not the tokenizer's. Special words stay text."""
    cuts = sorted(chance.sample(range(len(text) + 1), k=min(3, len(text))))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return [id_ for piece in pieces for id_ in tokenizer.encode(piece, add_special_tokens=False, split_special_tokens=True)]


def spoil_ids(ids: Ids, special: Ids, end: int, chance: random.Random) -> Ids:
    """End an answer early or not at all, put special ids into it, or replace it by random ids."""
    place = chance.randrange(len(ids) + 1)
    inside = [*ids[:place], chance.choice([i for i in special if i != end]), *ids[place:], end]
    return chance.choice(([*ids[:place], end], ids, inside, [*chance.choices(range(end), k=20), end], [end]))


async def count_faults(system: SystemName, number: int, tokenizer: Any, template: ChatTemplate) -> tuple[int, int, int]:
    """Run one scripted rollout. Return its faults, and how many ids were sampled in how many rows."""
    chance = random.Random(f"{system.value} {number}")
    engine = ScriptedEngine(tokenizer, make_writer(tokenizer, chance), number)
    settings = SamplingSettings((tokenizer.eos_token_id,))
    policy = Sampler(engine, template, settings, chance.choice(CONTEXTS))
    trajectory = await RUNS[number % 2](system, policy)
    rows = make_rows(trajectory)
    return count_row_faults(rows, engine.calls, trajectory), sum(len(c.sample.ids) for c in engine.calls), len(rows)


async def sample_gap(model: Any, tokenizer: Any, template: ChatTemplate) -> float:
    """Let the model itself sample rollouts of each system, many at once, and return the largest gap."""
    from training.rollouts.policy_logprobs import find_largest_gap
    from training.rollouts.transformers_engine import TransformersEngine, lend

    engine = TransformersEngine("policy", lend(model), pad_id=tokenizer.pad_token_id)
    stop = (tokenizer.eos_token_id,)
    settings = [SamplingSettings(stop, most_tokens=SAMPLED_TOKENS, seed=seed) for seed in range(SAMPLED_ROLLOUTS)]
    policies = [(run, Sampler(engine, template, one, SAMPLED_CONTEXT)) for run in RUNS for one in settings]
    runs = [run(system, policy) for system in SystemName for run, policy in policies]
    rows = [row for trajectory in await asyncio.gather(*runs) for row in make_rows(trajectory)]
    print(f"{sum(sum(row.sampled) for row in rows)} ids in {len(rows)} rows sampled by the model")
    return find_largest_gap(model, rows)


async def run(rollouts: int) -> None:
    """Measure all figures."""
    from training.rollouts.tiny_policy import build_tiny_model, build_tiny_tokenizer

    tokenizer: Any = build_tiny_tokenizer()
    model: Any = build_tiny_model(tokenizer)
    template = ChatTemplate(tokenizer)
    faults = sampled = held = 0
    for system in SystemName:
        for number in range(rollouts):
            wrong, ids, rows = await count_faults(system, number, tokenizer, template)
            faults, sampled, held = faults + wrong, sampled + ids, held + rows
    print(f"{sampled} ids in {held} rows, {faults} faults")
    gap = await sample_gap(model.eval(), tokenizer, ChatTemplate(tokenizer))
    print(f"the largest gap is {gap:.2g}")
    print_result("rows", {"rollouts": rollouts * len(SystemName), "faults": faults, "max_gap": gap})


def main() -> None:
    """Run the benchmark where there are torch and TRL."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rollouts", type=int, default=ROLLOUTS, help="of each system")
    options = parser.parse_args()
    if importlib.util.find_spec("trl") is None:
        print_skipped("rows", "the trainer needs torch and trl: make setup-train")
        return
    asyncio.run(run(options.rollouts))


if __name__ == "__main__":
    main()
