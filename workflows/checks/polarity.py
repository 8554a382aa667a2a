"""What a sentence says about direction: up or down, for or against, and whether it denies it.

Words of direction carry a sign; a negation shortly before one turns it. `activates` against `inhibits`, `higher` against `lower`,
`associated` against `not associated`: a claim and a sentence can agree in every word but this.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from workflows.checks.words import Word, listed

NEGATION_REACH = 4


def _forms(words: str) -> frozenset[str]:
    """These words with their regular endings. Forms rather than stems: `positive` has a direction, `position` has none."""
    found: set[str] = set()
    for word in words.split():
        bare = word.removesuffix("e")
        found |= {word, f"{word}s", f"{bare}ed", f"{bare}ing"} if word.isascii() else {word}
    return frozenset(found)


UP = _forms(
    """
    increase increased increases increasing rise rises risen rising rose raise raises raised grow grows grew growth elevate
    elevated elevation upregulate upregulated upregulation up-regulated up-regulation gain gained expand expands expansion
    accelerate accelerates acceleration faster enhance enhances enhanced enhancement augment amplify boost strengthen higher
    greater larger longer stronger high more positive positively promote promotes promoted promotion activate activates
    activated activation stimulate stimulates stimulation induce induces induced induction trigger triggers cause causes
    caused facilitate facilitates support supports drive drives enable enables allow allows encourage encourages stabilise
    stabilize stabilizes overexpress overexpression abundant accumulate accumulation prolong prolonged extend extends improve
    improves improved improvement better effective efficacious benefit benefits beneficial efficacy effectiveness essential
    required necessary crucial critical need needs require requires responsible important mediate mediates contribute
    contributes sufficient sensitive sensitivity susceptible susceptibility vulnerable common frequent often most protect
    protects protection protective maintain maintains preserve preserves restore restores rescue rescues dependent associated
    association linked link related correlated correlate correlates correlation involved interact interacts interaction bind
    binds direct directly early earlier rapid rapidly success successful significant significantly strong majority win wins
    won open opened above exceed exceeds exceeded over
    增加 增长 上升 提高 提升 促进 激活 增强 改善 扩大 支持 有效 显著 高于 多于 相关 导致 引起
    """
)
DOWN = _forms(
    """
    decrease decreased decreases decreasing fall falls fallen falling fell decline declines declined drop drops dropped reduce
    reduces reduced reducing reduction reductions diminish diminishes diminished lessen downregulate downregulated
    downregulation down-regulated down-regulation shrink shrinks shrank slow slows slower slowed delay delays delayed
    attenuate attenuates attenuated weaken weakens lower lowers lowered smaller shorter weaker low less fewer negative
    negatively inhibit inhibits inhibited inhibition inhibitor inhibitors inhibitory suppress suppresses suppressed
    suppression suppressor block blocks blocked blocking blockade halt halts prevent prevents prevented prevention preventing
    abolish abolishes abolished abrogate abrogated abrogates disrupt disrupts disrupted disruption impair impairs impaired
    impairment deactivate deactivates inactivate inactivates inactivated inactivation inactive repress represses repressed
    repression repressor antagonize antagonist antagonists antagonizes silence silenced silencing knockdown knockout deplete
    depletes depleted depletion deficient deficiency deficit loss lose loses lost lack lacks lacking absence absent delete
    deleted deletion ablate ablated ablation null worse worsen worsens worsened worsening harm harms harmful ineffective
    inefficient fail fails failed failure unaffected dispensable unnecessary redundant insensitive resistant resistance resist
    rare rarely seldom destabilize destabilizes degrade degrades degradation eliminate eliminates eliminated elimination
    remove removes removed removal independent independently indirect indirectly unrelated uncorrelated dissociate avoid
    avoided hinder hinders hindered counteract discourage discourages restrict restricts restricted limit limits limited poor
    poorly minor minority late later unable inability insufficient unchanged close closed below against protects protect
    protective protection shorten shortens shortened retreat
    减少 下降 降低 抑制 阻止 防止 削弱 减弱 恶化 缩小 反对 无效 缺乏 低于 少于 失败 拒绝
    """
)
# Words in both lists depend on what follows them ("protects against"); they carry no sign of their own.
_SIGNS = dict.fromkeys(UP - DOWN, 1) | dict.fromkeys(DOWN - UP, -1)
NEGATIONS = listed(
    """
    no not never none nor neither cannot without n't don't didn't doesn't isn't aren't wasn't weren't won't can't couldn't hasn't
    haven't hadn't wouldn't shouldn't hardly scarcely barely little nothing nobody unlike instead
    """
)
_CHINESE_NEGATIONS = ("不", "没", "無", "无", "未", "非", "否")


class Event(NamedTuple):
    """A word of direction at a place in a list of words; `sign` is +1 or -1, after negation."""

    at: int
    sign: int


def events_of(words: Sequence[Word], denials: Sequence[int]) -> tuple[Event, ...]:
    """The directions a sentence states, in order; `denials` are the places of its negations."""
    found: list[Event] = []
    for at, word in enumerate(words):
        sign = _SIGNS.get(word.text, 0)
        if sign:
            denied = any(at - NEGATION_REACH <= denial < at for denial in denials)
            found.append(Event(at, -sign if denied else sign))
    return tuple(found)


def is_negation(word: Word) -> bool:
    """Whether a word denies."""
    return _denies(word.text)


@lru_cache(maxsize=65_536)
def _denies(text: str) -> bool:
    return text in NEGATIONS or text.endswith(("n't", "n’t")) or text.startswith(_CHINESE_NEGATIONS)
