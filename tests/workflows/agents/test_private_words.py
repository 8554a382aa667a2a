"""What an agent may ask outside after it has read private sources: their words, but not their sentences."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from app.domain.chat import ToolResult
from app.domain.evidence import Passage, Source, snapshot_hash
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.durable.toys import ToyTool
from tests.workflows.sensible_model import answer_sensibly
from workflows.agents.actions import AgentAct
from workflows.agents.memory import MemoryEntry, MemoryKind, SharedMemory
from workflows.agents.notebook import Notebook
from workflows.agents.private_words import PrivateWords
from workflows.agents.tool_hands import ToolHands
from workflows.chat_models.scripted import ScriptedModel

SENTENCE = "The reserve price of the mill is ninety thousand crowns and no bidder may learn of it before June."
CHINESE = "磨坊的保留价格为九万克朗，六月之前任何投标人都不得知悉此事。"
WIKI, SHOP = "mcp_wiki_find", "mcp_shop_find"


def passage(url: str, text: str = SENTENCE) -> Passage:
    return Passage(source=Source(url=url, title="t", snapshot=snapshot_hash(text)), text=text, start=0, end=len(text))


class ReadingTool(ToyTool):
    """A tool that finds one passage and keeps its arguments."""

    def __init__(self, name: str, found: Passage) -> None:
        super().__init__(name)
        self.found, self.given = found, list[Mapping[str, Any]]()

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.given.append(arguments)
        return ToolResult(passages=(self.found,))


class Agent:
    """An agent that has read one source by a search, with a tool of another server at hand."""

    def __init__(self, url: str, text: str = SENTENCE, memory: SharedMemory | None = None) -> None:
        self.search, self.wiki = ReadingTool("search", passage(url, text)), ReadingTool(WIKI, passage("mcp://wiki/find#1"))
        kit = make_kit(ScriptedModel(answer_sensibly), make_record())
        kit = replace(kit, tools={"search": self.search, WIKI: self.wiki}, memory=memory or SharedMemory())
        self.hands = ToolHands(kit, "search/s1", Notebook())

    async def act(self, action: str, *inputs: str) -> str:
        return (await self.hands.carry_out(AgentAct(action=action, inputs=inputs)))[0].content


@pytest.mark.parametrize("text", [SENTENCE, CHINESE])
async def test_a_sentence_of_an_own_document_is_searched_here_only_and_told_to_no_other_server(text: str) -> None:
    agent = Agent("file:///Leases/mill.txt", text)
    await agent.act("search", "mill")
    await agent.act("search", f"news of {text}")
    said = await agent.act(WIKI, f'{{"name": {{"deep": ["{text}"]}}}}', f'{{"{text}": 1}}')
    assert agent.search.given == [{"query": "mill"}, {"query": f"news of {text}", "inside": True}]
    assert (agent.wiki.given, said.count("Refused")) == ([], 2)


async def test_its_words_may_be_asked_for() -> None:
    agent = Agent("file:///Leases/mill.txt")
    await agent.act("search", "mill")
    await agent.act(
        "search", "reserve price of the mill", "what do mills cost in crowns, ninety thousand?", "磨坊的保留价格为九万克朗"
    )
    await agent.act(WIKI, '{"name": "reserve price of the mill, June"}')
    assert not any("inside" in given for given in agent.search.given)
    assert len(agent.wiki.given) == 1


async def test_pieces_one_after_the_other_are_a_sentence_too() -> None:
    agent = Agent("file:///Leases/mill.txt")
    await agent.act("search", "mill")
    words = SENTENCE.split()
    pieces = [" ".join(words[start : start + 5]) for start in range(0, len(words), 5)]
    await agent.act("search", *pieces[:2])
    for piece in pieces[2:]:
        await agent.act("search", piece)
    assert [given["query"] for given in agent.search.given if "inside" not in given] == ["mill", pieces[0]]


async def test_a_page_of_the_web_may_be_repeated() -> None:
    agent = Agent("https://example.org/mill")
    await agent.act("search", "mill")
    await agent.act("search", SENTENCE)
    assert not any("inside" in given for given in agent.search.given)


async def test_a_call_that_was_made_is_not_made_again_because_its_words_turned_out_to_be_private() -> None:
    agent = Agent("file:///Leases/mill.txt")
    await agent.act("search", SENTENCE)
    assert "inside" not in agent.search.given[0], "nothing was read before"
    await agent.act("search", SENTENCE)
    assert len(agent.search.given) == 1


def test_a_server_may_be_told_its_own_words_and_another_may_not() -> None:
    private = PrivateWords()
    private.add_passages([passage("mcp://wiki/find#1")])
    assert [private.are_repeated({"name": SENTENCE}, tool) for tool in (WIKI, "mcp_wiki_read", SHOP, "search")] == [
        False,
        False,
        True,
        True,
    ]


async def test_what_another_agent_read_and_told_is_private_as_well() -> None:
    agent = "search/s0"
    answer = MemoryEntry(agent=agent, kind=MemoryKind.FINDING, text="It has a price.", addresses=("file:///Leases/mill.txt",))
    thought = MemoryEntry(agent=agent, kind=MemoryKind.THOUGHT, text=f"I see: {SENTENCE}")
    reader = Agent("https://example.org/mill", memory=SharedMemory(entries=(thought, answer)))
    await reader.act("search", SENTENCE)
    assert [given.get("inside") for given in reader.search.given] == [True]
    own = MemoryEntry(agent="user", kind=MemoryKind.NOTE, text=SENTENCE)
    noted = Agent("https://example.org/mill", memory=SharedMemory(entries=(own, answer)))
    await noted.act("search", SENTENCE)
    assert [given.get("inside") for given in noted.search.given] == [None], "a reader may say what is to be asked"
