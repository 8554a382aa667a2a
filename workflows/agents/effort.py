"""The agents' limits by effort: how far they go before they stop by themselves.

DeepRubric (section 4.1) allows 10 turns of tool calls in evaluation and 20 in training; these are `standard` and `deep`. A system
that works the whole question in one search (MaMs, ReAct, DeepRubric's agent) has limits of its own, the same for all three: 10
turns of up to 5 calls (QSR appendix D), at `deep` 20.
"""

from dataclasses import replace

from app.domain.budget import AgentLimits
from app.domain.options import Length, ReportFormat
from app.domain.query import Effort, Language, ResearchQuery, SystemName
from workflows.agents.kit import Bounds

LIMITS = {
    Effort.QUICK: AgentLimits(max_turns=4, max_tool_calls=8),
    Effort.STANDARD: AgentLimits(max_turns=10, max_tool_calls=20),
    Effort.DEEP: AgentLimits(max_turns=20, max_tool_calls=40),
}
CALLS_A_TURN = Bounds().calls_per_turn
ALONE = AgentLimits(max_turns=10, max_tool_calls=10 * CALLS_A_TURN)
LIMITS_ALONE = {
    Effort.QUICK: ALONE,
    Effort.STANDARD: ALONE,
    Effort.DEEP: AgentLimits(max_turns=20, max_tool_calls=20 * CALLS_A_TURN),
}
BOUNDS = {
    Effort.QUICK: Bounds(subtasks=3, sections=4, section_words=280, queries_per_action=3),
    Effort.STANDARD: Bounds(),
    Effort.DEEP: Bounds(subtasks=8, sections=9, section_words=650),
}
# How much shorter or longer than usual for its effort a report is: the factor for each section, and for how many there are.
SECTION_SCALE = {Length.SHORT: 0.5, Length.MEDIUM: 1.0, Length.LONG: 1.6}
SECTIONS_SCALE = {Length.SHORT: 0.6, Length.MEDIUM: 1.0, Length.LONG: 1.5}
BRIEF_SECTIONS = 2
LEAST_SECTIONS = 2


CHARS_PER_TOKEN = {Language.ENGLISH: 4.0, Language.CHINESE: 1.5}
MATERIAL_SHARE = 0.75
"""The share of a context for material; instructions and the answer need the rest."""
OBSERVED, EVIDENCE = 0.25, 0.5
USUAL_CONTEXT, ROOMY_CONTEXT = 32_000, 64_000
"""What a context of unknown size is taken for, and one that has room for a whole report with its evidence; in tokens."""
SMALL_CONTEXT = 16_384
"""A model with a context of fewer tokens gets short prompts, which ask for fewer fields."""


def is_small(context_tokens: int) -> bool:
    """Say whether a model's context is small; 0 tokens: unknown."""
    return 0 < context_tokens < SMALL_CONTEXT


def chars_of_context(context_tokens: int, language: Language) -> int:
    """Return how many characters of material a context has room for."""
    return int(context_tokens * CHARS_PER_TOKEN[language] * MATERIAL_SHARE)


def fit_bounds(usual: Bounds, context_tokens: int, language: Language) -> Bounds:
    """Return the bounds of what agents read at once, as a context has room for; 0 tokens: one of the usual size.

    A conversation may fill it. An observation grows with it, up to the usual room for each query of an action.
    """
    tokens = context_tokens or USUAL_CONTEXT
    chars = chars_of_context(tokens, language)
    return replace(
        usual,
        context_tokens=tokens,
        conversation_chars=chars,
        observation_chars=min(usual.observation_chars * usual.queries_per_action, int(chars * OBSERVED)),
        evidence_chars=int(chars * EVIDENCE),
    )


def limits_of(query: ResearchQuery) -> AgentLimits:
    """Return the limits of each search of this run: of one subtask, or of the whole question where the system has no other."""
    return (LIMITS if query.system is SystemName.MINDDR else LIMITS_ALONE)[query.effort]


def bounds_of(query: ResearchQuery) -> Bounds:
    """Return how widely the agents of this run search, and how much they write."""
    usual, style = BOUNDS[query.effort], query.style
    if style is None:
        return usual
    length = style.length or Length.MEDIUM
    sections = max(LEAST_SECTIONS, round(usual.sections * SECTIONS_SCALE[length]))
    return replace(
        usual,
        section_words=round(usual.section_words * SECTION_SCALE[length]),
        sections=min(sections, BRIEF_SECTIONS) if style.format is ReportFormat.BRIEF else sections,
    )
