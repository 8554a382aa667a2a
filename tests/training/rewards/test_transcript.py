"""A transcript holds what the policy was shown, which may be less than what came back from a tool."""

from collections.abc import Sequence

from app.domain.evidence import Passage, Source, snapshot_hash
from retrieval.ports import SearchFilter
from tests.workflows.agent_kit import make_record
from tests.workflows.agents.scripted_search import make_acting_model, search_subtask, write_act, write_finding
from tests.workflows.small_corpus import SmallCorpus
from training.rewards.entities import Entity, entity_coverage
from training.rewards.notations import Notation
from training.rewards.transcript import Transcript, transcript_of

FOUND = 40
LAST = Entity("Zanzibar")
SEARCHER = "search/s1"


class Forty(SmallCorpus):
    """A corpus in which each query finds forty long passages; the last has a name that no other has."""

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        return [_make_passage(query, rank) for rank in range(FOUND)]


def _make_passage(query: str, rank: int) -> Passage:
    text = f"Port {rank} {len(query)}: " + ("words of Zanzibar " if rank == FOUND - 1 else "words of a source ") * 40
    source = Source(url=f"https://example.org/{rank}", title=f"Port {rank}", snapshot=snapshot_hash(text))
    return Passage(source=source, text=text, start=0, end=len(text))


async def read_search(*queries: str) -> Transcript:
    record = make_record()
    model = make_acting_model(*(write_act("search", query) for query in queries), conclude=write_finding(answer="Nothing."))
    await search_subtask(model, Forty(), record=record)
    return transcript_of(record.trajectory, SEARCHER, notation=Notation.SCHEMA)


async def test_what_came_back_and_was_not_shown_was_not_met() -> None:
    transcript = await read_search("harbours")
    (first, *_) = transcript.steps
    assert 1 < len(first.observations) // 2 < FOUND, "titles and words of the passages that had room"
    assert entity_coverage(transcript, [Entity("Port 0"), LAST]) == 0.5


async def test_a_name_in_the_policys_own_query_was_not_met() -> None:
    assert entity_coverage(await read_search("the port of Zanzibar"), [LAST]) == 0.0
