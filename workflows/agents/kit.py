"""Everything an agent may use, and its limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date

from app.domain.budget import AgentLimits
from app.domain.query import Language
from workflows.agents.codec import StepCodec
from workflows.agents.memory import SharedMemory
from workflows.agents.ports import ChatModel, Record, Tool
from workflows.prompts.library import PromptLibrary


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of how widely agents search and how much text they read at once. `*_chars` count characters.

    `context_tokens` is the model's context. A conversation longer than `conversation_chars` is shortened, unless
    `shorten_conversations` is false: then, as in training, it grows until the model says that it is too long: the search ends.
    `queries_per_action` holds for the chain's searches, `calls_per_turn` for systems that work the whole question in one search.
    `chunk_chars` is the length of the pieces in which MaMs reads. `action_tokens` is the most that an action may say (None: the
    step's own room, and more of it once). With `observe_faults` an action in a wrong form costs a turn and is answered by an
    observation that says what is wrong; else it is asked for again, and a second fault ends the search. What the model fails to
    quote or to write is replaced by quotes, unless `replace_failed` is false, as in training: no policy earns by others' work.
    """

    subtasks: int = 5
    queries_per_action: int = 4
    calls_per_turn: int = 5
    sections: int = 6
    sections_at_once: int = 16
    section_words: int = 450
    observation_chars: int = 10_000
    conversation_chars: int = 90_000
    shorten_conversations: bool = True
    evidence_chars: int = 48_000
    context_tokens: int = 32_000
    chunk_chars: int = 6_000
    action_tokens: int | None = None
    observe_faults: bool = False
    replace_failed: bool = True


@dataclass(frozen=True, slots=True)
class Kit:
    """Everything an agent may use. Entry points build it; agents import no client, clock or setting of their own.

    `clock` gives seconds and must replay: while a record answers from stored turns, it returns the same times as when those
    turns were made (the time up to the latest turn), so that a resumed agent stops exactly where it stopped the first time.
    `today` is the date of the run's creation, for the same reason. `memory` is fixed when the stage opens. `whole` reads the
    run's collections whole, where the run searches nothing else; `shelves` describes them.
    """

    chat: ChatModel
    tools: Mapping[str, Tool]
    record: Record
    prompts: PromptLibrary
    codec: StepCodec
    today: date
    clock: Callable[[], float]
    limits: AgentLimits = field(default_factory=AgentLimits)
    bounds: Bounds = field(default_factory=Bounds)
    memory: SharedMemory = field(default_factory=SharedMemory)
    whole: Tool | None = None
    shelves: Tool | None = None
    language: Language = Language.ENGLISH
