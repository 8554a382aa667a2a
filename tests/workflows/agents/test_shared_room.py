"""The room of an action is shared between its calls, grows with the context, and what is left out can be asked for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from app.domain.chat import Message
from app.domain.evidence import Passage, Source, snapshot_hash
from app.domain.query import Language
from retrieval.ports import Document, SearchFilter
from tests.workflows.agents.scripted_search import make_acting_model, search_subtask, write_act, write_finding
from tests.workflows.small_corpus import SmallCorpus
from workflows.agents.effort import fit_bounds
from workflows.agents.kit import Bounds
from workflows.chat_models.scripted import ScriptedModel

SIX = 6
NOTHING = write_finding(answer="Nothing.")


@dataclass
class Lists(SmallCorpus):
    """A corpus in which each query finds six long passages of its own, but for those of one word, which all find the same."""

    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        self.asked.append(query)
        about = query if " " in query else "any"
        return [_make_passage(about, rank) for rank in range(SIX)]


def _make_passage(about: str, rank: int) -> Passage:
    text = f"{about} {rank}: " + "words of a source " * 80
    source = Source(
        url=f"https://example.org/{about.replace(' ', '-')}/{rank}", title=f"{about} {rank}", snapshot=snapshot_hash(text)
    )
    return Passage(source=source, text=text, start=0, end=len(text))


def _observations(model: ScriptedModel) -> list[Message]:
    return [m for m in model.requests[-1].messages if m.content.startswith("<tool_response>")]


def _count_texts(observation: Message) -> list[int]:
    """The passages with their text that each query's list shows."""
    lists = re.split(r"^search: ", observation.content, flags=re.MULTILINE)[1:]
    return [one.count(": words of a source") for one in lists]


async def test_a_long_list_leaves_room_for_the_lists_of_the_other_queries() -> None:
    model = make_acting_model(write_act("search", "first query", "second query", "third query"), conclude=NOTHING)
    await search_subtask(model, Lists())
    (shown,) = _observations(model)
    assert _count_texts(shown) == [3, 2, 2]
    assert [int(n) for n in re.findall(r"(\d+) further passages were left out", shown.content)] == [3, 4, 4]
    assert len(shown.content) < Bounds().observation_chars + 500


async def test_the_room_grows_with_a_known_context() -> None:
    model = make_acting_model(write_act("search", "first query", "second query", "third query"), conclude=NOTHING)
    await search_subtask(model, Lists(), bounds=fit_bounds(Bounds(), 131_072, Language.ENGLISH))
    (shown,) = _observations(model)
    assert _count_texts(shown) == [SIX, SIX, SIX]
    assert "left out" not in shown.content


async def test_what_several_queries_find_takes_its_room_once() -> None:
    model = make_acting_model(write_act("search", "one", "two", "three"), conclude=NOTHING)
    await search_subtask(model, Lists())
    (shown,) = _observations(model)
    assert _count_texts(shown) == [SIX, 0, 0]
    assert "(shown above)" in shown.content
    assert "left out" not in shown.content


async def test_the_same_query_shows_the_passages_that_were_left_out_and_only_then_is_a_repetition() -> None:
    corpus = Lists()
    act = write_act("search", "first query", "second query", "third query")
    model = make_acting_model(act, act, act, conclude=NOTHING)
    found = await search_subtask(model, corpus)
    first, second, third = _observations(model)
    assert _count_texts(second) == [3, 2, 2]
    assert not {*_ids_of(first)} & {*_ids_of(second)}
    assert _count_texts(third) == [0, 2, 2]
    assert "You already asked this" in third.content
    assert corpus.asked.count("first query") == 1, "the list is kept, not searched again"
    assert found.usage.tool_calls == 3


def _ids_of(observation: Message) -> list[str]:
    return re.findall(r'<snippet id="(p\d+)"', observation.content)


class _Long(SmallCorpus):
    """A corpus of two long documents, found by passages that stand far behind their beginnings."""

    documents: ClassVar = {
        f"https://example.org/{name}": "".join(
            f"{name} paragraph {number}. " + "Plain words of it. " * 40 + "\n\n" for number in range(60)
        )
        for name in ("left", "right")
    }

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        return [self._make_passage(url, f"{url[20:]} paragraph 43.") for url in self.documents]

    async def read(self, url: str) -> Document:
        return Document(source=self._source_of(url), text=self.documents[url])

    def _make_passage(self, url: str, words: str) -> Passage:
        start = self.documents[url].index(words)
        return Passage(source=self._source_of(url), text=self.documents[url][start : start + 200], start=start, end=start + 200)

    def _source_of(self, url: str) -> Source:
        return Source(url=url, title="Long", snapshot=snapshot_hash(self.documents[url]))


async def test_browsing_a_passage_opens_the_part_in_which_it_stands() -> None:
    model = make_acting_model(write_act("search", "anything"), write_act("browse", "p2"), conclude=NOTHING)
    await search_subtask(model, _Long())
    read = _observations(model)[-1].content
    assert "right paragraph 43." in read
    assert "right paragraph 0." not in read
    assert re.search(r"part \d+ of \d+", read)


async def test_a_part_that_is_named_is_read_also_of_a_passage() -> None:
    model = make_acting_model(write_act("search", "anything"), write_act("browse", "p2 part 1"), conclude=NOTHING)
    await search_subtask(model, _Long())
    assert "right paragraph 0." in _observations(model)[-1].content


async def test_each_of_two_pages_read_in_one_action_is_shown() -> None:
    model = make_acting_model(write_act("search", "anything"), write_act("browse", *_Long.documents), conclude=NOTHING)
    await search_subtask(model, _Long())
    read = _observations(model)[-1].content
    assert "left paragraph 0." in read
    assert "right paragraph 0." in read
