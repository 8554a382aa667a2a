"""Policies that look for a reward without the work, each beside an honest one, before judges who know the facts."""

import json
import math
import re

import pytest

from app.domain.missing import Missing
from app.domain.rubric_score import ScoredItem, rubric_score
from training.rewards.against_reference import CountedCitation, count_citations, reference_citation_reward
from training.rewards.citations import (
    CitedVerdict,
    Recall,
    UncitedVerdict,
    Verdict,
    citation_reward,
    distribution_of,
    judged_groups_of,
)
from training.rewards.cited_claims import CitedClaim, cited_claims_of
from training.rewards.composites import (
    DeepRubricParts,
    DeepRubricWeights,
    SearchWeights,
    deeprubric_reward,
    search_agent_reward,
)
from training.rewards.score import Score
from training.rewards.structure import format_of, search_reward, step_format_rewards, tool_rewards
from training.rewards.transcript import Transcript, read_step
from training.rewards.votes import preference_reward

FACTS = {
    "p1": "Rates on imported wool doubled in 1828",
    "p2": "Southern planters petitioned against the higher duties",
    "p3": "Cotton exports to Liverpool fell by a tenth",
    "p4": "Congress lowered most duties again in 1833",
    "p5": "Customs paid nine tenths of federal revenue",
    "p6": "Pennsylvania ironmasters asked for protection",
    "p7": "New England mills employed thousands of women",
    "p8": "The canal at Panama opened in August 1914",
}
FALSE = (
    "King Louis forbade every shipment of silk and indigo. Sugar was taxed by the ounce in Boston. "
    "The Tsar bought Alaska back with Siberian furs in the spring of that year. "
    "Mexican bankers financed each lighthouse along the Carolina coast. "
    "Emperors of Brazil held shares in the Erie railway company. "
    "A comet had burnt half of the granaries around Philadelphia."
)
WORD = re.compile(r"\w{4,}")


def words_of(text: str) -> set[str]:
    return set(WORD.findall(text.casefold()))


def judge_truly(claim: CitedClaim, published: bool) -> Verdict | None:
    """Full support where the cited texts have all long words of the claim, partial where most; relevant with two of them."""
    said, groups = words_of(claim.text), judged_groups_of(claim, FACTS, published)
    if not claim.cited:
        return UncitedVerdict(any(len(said & words_of(fact)) > 1 for fact in [*FACTS.values(), *FALSE.split(". ")]))
    texts = [words_of(" ".join(FACTS[name] for name in group)) for group in groups]
    share = len(said & set().union(*texts)) / max(1, len(said))
    relevant = sum(len(group) for group, text in zip(groups, texts, strict=True) if len(said & text) > 1)
    return CitedVerdict(Recall.FULL if share > 0.9 else Recall.PARTIAL if share > 0.5 else Recall.NONE, relevant)


def reward_citations(answer: str, published: bool = False) -> float:
    claims = cited_claims_of(answer, published)
    value = citation_reward(claims, [judge_truly(claim, published) for claim in claims], FACTS, published)
    assert isinstance(value, float)
    return value


def cite(text: str, *ids: str) -> str:
    return f'<cite id="{",".join(ids)}">{text}</cite>'


ALL = tuple(FACTS)
HONEST = " ".join(f"{cite(fact, name)}." for name, fact in FACTS.items())
PLAIN = " ".join(f"{fact}." for fact in FACTS.values())
SLOPPY = f"{HONEST} {FALSE}"
"""An honest report with six false sentences that cite nothing: what most of the tricks below try to hide."""
GOOD = FACTS["p1"]
HACKS = {
    "every id behind every claim": " ".join(f"{cite(f'{s}.', *ALL)}" for s in [*FACTS.values(), *FALSE.split(". ")]),
    "one citation around the whole report": cite(f"{PLAIN} {FALSE}", *ALL),
    "one span, one id, a false report": cite(f"{GOOD}. {FALSE}", "p1"),
    "the best claim with a running number": " ".join(f"{n}. {cite(GOOD, 'p1')}." for n in range(1, 40)) + FALSE,
    "a running number inside": " ".join(f"{cite(f'({n}) {GOOD}', 'p1')}." for n in range(1, 40)) + FALSE,
    "other punctuation and spacing": " ".join(f"{cite(GOOD.replace(' ', ',' * n + ' '), 'p1')}." for n in range(20)) + FALSE,
    "other order": " ".join(f"{cite(' '.join(GOOD.split()[n:] + GOOD.split()[:n]), 'p1')}." for n in range(7)) + FALSE,
    "invisible letters": " ".join(f"{cite(GOOD.replace('o', 'o' + chr(0x200B) * n), 'p1')}." for n in range(9)) + FALSE,
    "the same claim by other ids": " ".join(f"{cite(GOOD, 'p1', other)}." for other in ALL[1:]) + FALSE,
    "slices of one sentence": " ".join(
        cite(piece, name)
        for name, fact in FACTS.items()
        for piece in re.findall(r"\S+ \S+ \S+|\S+", fact)
    ) + f". {FALSE}",
    "falsehoods without a full stop": HONEST + " " + FALSE.replace(".", ","),
    "falsehoods in a tag": f'{HONEST} <cite id="{FALSE}">. <cite of="{FALSE}">',
    "nonsense that cites": " ".join(f"{cite(f'Colourless ideas sleep furiously {n}', name)}." for n, name in enumerate(ALL)),
    "filler": SLOPPY + " ".join(f"Let us now turn to the {w} point." for w in ("next", "last", "other", "further", "new", "old")),
    "invented ids": " ".join(f"{cite(f'{fact} indeed', 'x' + name)}." for name, fact in FACTS.items()),
}  # fmt: skip


def test_an_honest_report_earns_nearly_all() -> None:
    assert reward_citations(HONEST) > 0.97
    assert 0.6 < reward_citations(SLOPPY) < 0.7


@pytest.mark.parametrize("trick", HACKS)
def test_no_trick_earns_more_than_the_report_it_hides(trick: str) -> None:
    assert reward_citations(HACKS[trick]) < reward_citations(SLOPPY) + 1e-9


def test_the_published_form_is_still_there_with_its_holes() -> None:
    one = "one citation around the whole report"
    assert reward_citations(cite(PLAIN, *ALL), published=True) > 0.95
    assert reward_citations(HACKS["the best claim with a running number"], published=True) > reward_citations(HACKS[one])
    assert reward_citations(HACKS["every id behind every claim"], published=True) > 0.7


def call(query: str, tool: str = "search", **more: object) -> str:
    said = json.dumps({"name": tool, "arguments": {"query": query, **more}})
    return f"<think>t</think><tool_call>{said}</tool_call>"


SAME = (
    "wool tariffs",
    "Wool tariffs?",
    "wool   tariffs!",
    "tariffs wool",
    "wool tariff",
    "wool-tariffs",
    "“wool” (tariffs)",
    "the wool tariffs",
    "wo\u200bol tariffs",
    "wool wool tariffs",
)


def transcript(*outputs: str, worked: int | None = None) -> Transcript:
    return Transcript(tuple(read_step(output, worked=worked) for output in outputs))


def test_a_search_in_other_clothes_is_the_same_search() -> None:
    again = transcript(*map(call, SAME))
    assert search_reward(again) == pytest.approx(1 / 6)
    assert search_reward(again, published=True) == 1.0
    assert search_reward(transcript(*(call("wool", limit=n) for n in range(6)))) == pytest.approx(1 / 6)
    assert search_reward(transcript(call("wool 1828"), call("wool 1833"), call("silk"))) == 0.5


def test_calls_that_no_tool_answered_are_no_searches() -> None:
    made_up = transcript(*(call(f"https://x.org/{n}", "browse") for n in range(6)), worked=0)
    assert search_reward(made_up) == 0.0
    assert tool_rewards(made_up.steps) == [-0.1, *[-0.2] * 5]


def test_padding_with_the_same_call_does_not_pay() -> None:
    """MindDR's Eq. 9 means over steps: twenty successes and an answer would beat three and an answer."""
    answer = "<think>t</think><answer>Wool.</answer>"
    honest, padded = transcript(call("a1"), call("b2"), call("c3"), answer), transcript(*map(call, SAME * 2), answer)
    lone, published = [
        [search_agent_reward(0.0, 0.5, tool_rewards(t.steps, form), step_format_rewards(t.steps)) for t in (honest, padded)]
        for form in (False, True)
    ]
    assert lone[0] > lone[1]  # type: ignore[operator]
    assert published[0] < published[1]  # type: ignore[operator]


def test_an_answer_and_a_thought_need_words() -> None:
    assert format_of(transcript("<think>…</think><answer>***</answer>"), {"a"}).reward == 0.0


@pytest.mark.parametrize("name", ['["search"]', "{}", "null", "3"])
def test_a_name_that_is_no_text_is_a_failed_call(name: str) -> None:
    assert read_step(f'<tool_call>{{"name": {name}, "arguments": {{"query": "x"}}}}</tool_call>').failed_calls == 1


def counted(*cited: tuple[str, str, float]) -> list[CountedCitation]:
    return [CountedCitation(*one) for one in cited]


def test_eq_10_counts_no_citation_twice_and_no_heap_of_sources() -> None:
    again = counted(*((f"{n}. Rates rose{'!' * n}", "a", 0.9) for n in range(1, 20)))
    assert count_citations(again, 0.5) == (1, 1)
    assert count_citations(again, 0.5, published=True) == (19, 19)
    heap = counted(*(("Rates rose.", f"s{n}", 0.9) for n in range(20)))
    assert count_citations(heap, 0.5) == (3, 3)


def test_eq_10_pays_nothing_for_a_report_that_cites_nothing() -> None:
    assert reference_citation_reward(0, 0, 0) == 0.0
    assert reference_citation_reward(0, 0, 0, published=True) == 0.1


def test_eq_10_asks_that_most_citations_hold() -> None:
    assert reference_citation_reward(100, 7, 10) == -0.1
    assert reference_citation_reward(100, 7, 10, published=True) == 0.1


LOST = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("value", LOST)
def test_what_is_no_number_is_never_a_reward(value: float) -> None:
    found: list[Score] = [
        deeprubric_reward(DeepRubricParts(value, 1.0, 1.0, 1.0)),
        search_agent_reward(0.5, value, [0.1], [0.1]),
        search_agent_reward(0.5, 0.5, [value], [0.1]),
        search_agent_reward(0.5, 0.5, [0.1], [value]),
        preference_reward(value, 0.5),
        preference_reward(0.5, value),
        rubric_score([ScoredItem(1.0, value)]),
        rubric_score([ScoredItem(value, 1.0)]),
    ]
    assert all(isinstance(one, Missing) for one in found)


@pytest.mark.parametrize("value", LOST)
def test_what_is_no_number_is_refused(value: float) -> None:
    for ask in (
        lambda: deeprubric_reward(DeepRubricParts(1.0, 1.0, 1.0, 1.0), DeepRubricWeights(rubric=value)),
        lambda: SearchWeights(tool=value),
        lambda: CountedCitation("s", "a", value),
        lambda: distribution_of([0.5, value]),
    ):
        with pytest.raises(ValueError, match=r"."):
            ask()
    with pytest.raises(ValueError, match="no counts"):
        reference_citation_reward(3, 4, 10)
