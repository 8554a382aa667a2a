"""The tools of rollouts in training: those of local collections, or a tape's, so that a rollout can be repeated.

A call that is not on the tape gets an error as its observation, as a tool that finds nothing would give. A rollout must not fail
because the policy asks something new: that is what it is to learn.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeAlias

from pydantic import model_validator

from app.domain.errors import InvalidInput, ToolError
from app.domain.evidence import Passage
from app.domain.value import Value
from app.settings import Settings
from retrieval.ports import Document, SearchFilter
from retrieval.tape import Tape
from training.evaluation.harness.manifest import digest_files
from training.evaluation.harness.world import open_surroundings
from training.recipes.config import ConfigPath
from workflows.agents.ports import Tool
from workflows.tools.taped_tools import TapeMode, tape_tools
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import ToolCorpora, build_toolbox, corpora_of

MakeTools: TypeAlias = Callable[[], Mapping[str, Tool]]
TAPED = "tape"


class ToolsSection(Value):
    """Where rollouts search: on a `tape`, or in `collections` of the retrieval service at `retrieval_url` (of `rubrica up`).

    `scientific` names collections of papers, which the tool `scholar` searches. Nothing outside is asked.
    """

    tape: ConfigPath | None = None
    retrieval_url: str | None = None
    collections: tuple[str, ...] = ()
    scientific: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _name_one_world(self) -> "ToolsSection":
        if (self.tape is None) == (self.retrieval_url is None):
            raise ValueError("name a tape, or a retrieval_url with collections")
        if not self.tape and not (self.collections or self.scientific):
            raise ValueError("name the collections that are searched")
        return self


class UnrecordedWorld:
    """What stands behind a tape: nothing is found there."""

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """Find nothing.

        Raises:
            ToolError: always.
        """
        raise ToolError("this search has no results; use other words")

    async def read(self, url: str) -> Document:
        """Read nothing.

        Raises:
            ToolError: always.
        """
        raise ToolError("this page cannot be read")


def check_tools(section: ToolsSection) -> str:
    """Say in a line what rollouts search.

    Raises:
        InvalidInput: the tape cannot be read.
    """
    if section.tape:
        return f"{len(read_tape(section.tape)):,} calls of {section.tape.name}"
    return ", ".join((*section.collections, *section.scientific))


def digest_tools(section: ToolsSection) -> dict[str, str]:
    """Return the SHA-256 of the tape, if there is one."""
    return digest_files([section.tape]) if section.tape else {}


def read_tape(path: ConfigPath) -> Tape:
    """Read a tape.

    Raises:
        InvalidInput: it cannot be read, or is none.
    """
    try:
        return Tape.load(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error


@asynccontextmanager
async def open_tools(section: ToolsSection) -> AsyncIterator[MakeTools]:
    """Open what is searched. The function that it gives makes the tools of one rollout.

    Raises:
        InvalidInput: the tape cannot be read.
    """
    if section.tape:
        yield play_tape(read_tape(section.tape), bool(section.scientific))
        return
    settings = Settings.model_validate({"retrieval_url": section.retrieval_url, "scientific_collections": section.scientific})
    names = (*section.collections, *section.scientific)
    async with open_surroundings(settings, names) as surroundings:
        world, corpora = surroundings.world, corpora_of(names, section.scientific, own=False)
        yield lambda: build_toolbox(world.searcher, world.reader, corpora, ToolMemory(DictToolStore()))


def play_tape(tape: Tape, scholar: bool = False) -> MakeTools:
    """Return what makes tools that answer from a tape, and with an error where it has nothing."""
    empty, corpora = UnrecordedWorld(), ToolCorpora((TAPED,), (TAPED,) if scholar else ())
    return lambda: tape_tools(build_toolbox(empty, empty, corpora, ToolMemory(DictToolStore())), tape, TapeMode.FALL_THROUGH)
