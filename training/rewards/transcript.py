"""A sampled trajectory as rewards read it: strictly. A fault that inference repairs is an error here.

`notations.py` reads single outputs. Only the text in the one answer of the last step is the report.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from app.domain.chat import ChatRole, ToolCall
from app.domain.trajectory import Trajectory, Turn, TurnKind
from training.rewards.notations import Block, Notation, ReadOutput, read_schema, read_tags
from workflows.agents.passage_ids import list_snippet_texts

TOOLS = frozenset({"search", "scholar", "browse"})


@dataclass(frozen=True, slots=True)
class TranscriptStep:
    """One output of the policy, and the observations of its tool calls.

    `well_formed`: the output has the form that was asked for. `calls` are the valid tool calls, one for each query of a list, and
    `worked_calls` the number of those that a tool answered: it reported no error, and the agent's loop did not refuse the call.
    `failed_calls` counts the invalid blocks (no JSON object, no known tool, no argument) and the calls whose tool reported an
    error. `observations` are titles and words of the passages that the policy was shown after it; a step without valid calls has
    none.
    """

    blocks: tuple[Block, ...]
    well_formed: bool
    calls: tuple[ToolCall, ...] = ()
    worked_calls: int = 0
    failed_calls: int = 0
    observations: tuple[str, ...] = ()

    @property
    def thought(self) -> str:
        """The text of all its thoughts."""
        return "\n".join(block.text for block in self.blocks if block.tag == "think").strip()

    @property
    def used_a_tool(self) -> bool:
        """Whether the step tried a tool call."""
        return bool(self.calls) or self.failed_calls > 0

    @property
    def tool_succeeded(self) -> bool:
        """Whether tools answered the step, and none of its calls failed. A loop may leave out calls above its limit."""
        return self.worked_calls > 0 and self.failed_calls == 0


@dataclass(frozen=True, slots=True)
class Transcript:
    """The steps of one agent, in order."""

    steps: tuple[TranscriptStep, ...]

    @property
    def calls(self) -> list[ToolCall]:
        """All valid tool calls, in order."""
        return [call for step in self.steps for call in step.calls]

    @property
    def answer(self) -> str:
        """The report: the one answer of the last step; empty when the step has none, or more than one."""
        answers = [block.text for block in self.steps[-1].blocks if block.tag == "answer"] if self.steps else []
        return answers[0].strip() if len(answers) == 1 else ""


def read_step(
    output: str, observed: Sequence[str] = (), errors: int = 0, tools: Collection[str] = TOOLS, worked: int | None = None
) -> TranscriptStep:
    """Read one output in tags with its observations; `errors` counts the calls whose tool reported an error.

    `worked` counts those that a tool answered; None: all others.
    """
    return _make_step(read_tags(output, tools), observed, errors, worked)


def transcript_of(
    trajectory: Trajectory, agent: str, tools: Collection[str] = TOOLS, notation: Notation = Notation.TAGS
) -> Transcript:
    """Return the transcript of one agent of a trajectory, whose policy was asked for `notation`.

    What agents below it were shown counts as shown to it: the policy that reads an observation for it is the same.
    """
    return Transcript(tuple(_read_steps(trajectory, agent, tools, notation)))


def _read_steps(trajectory: Trajectory, agent: str, tools: Collection[str], notation: Notation) -> Iterator[TranscriptStep]:
    read: ReadOutput | None = None
    shown: list[str] = []
    errors = worked = 0
    for turn in (turn for turn in trajectory.turns if turn.agent == agent or turn.agent.startswith(f"{agent}/")):
        shown += _list_shown(turn)
        if turn.agent != agent:
            continue
        if turn.kind is TurnKind.MODEL and turn.completion is not None:
            if read is not None:
                yield _make_step(read, shown, errors, worked)
            text = turn.completion.text
            read = read_tags(text, tools) if notation is Notation.TAGS else read_schema(text, turn.step, tools)
            shown, errors, worked = [], 0, 0
        elif turn.result is not None:
            errors += bool(turn.result.error)
            worked += not turn.result.error
    if read is not None:
        yield _make_step(read, shown, errors, worked)


def _list_shown(turn: Turn) -> list[str]:
    """Return the passages in the messages of a turn: a tool may bring more than an observation has room for."""
    told = (message.content for message in turn.messages if message.role is not ChatRole.ASSISTANT)
    return [text for content in told for text in list_snippet_texts(content)]


def _make_step(read: ReadOutput, observed: Sequence[str], errors: int, worked: int | None) -> TranscriptStep:
    calls = read.calls
    if not calls:  # the loop may search in its place, which is neither its merit nor its fault
        return TranscriptStep(read.blocks, read.well_formed, failed_calls=read.invalid)
    answered = len(calls) - errors if worked is None else min(worked, len(calls))
    return TranscriptStep(read.blocks, read.well_formed, calls, max(0, answered), read.invalid + errors, tuple(observed))
