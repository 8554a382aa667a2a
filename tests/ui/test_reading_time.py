"""How long files take until they can be searched, as far as this page has seen."""

from datetime import timedelta

from rubrica_client.models import OwnDocument
from tests.ui.fake_api import START
from ui.components.reading_time import ReadingTimes


def make_file(name: str, size: int, state: str) -> OwnDocument:
    told = {"id": name, "collection_id": "c", "name": name, "bytes": size, "state": state, "received_at": START}
    return OwnDocument.model_validate(told)


def test_the_rate_is_that_of_the_files_that_ended_last() -> None:
    times = ReadingTimes()
    first = [make_file("a", 600, "received"), make_file("b", 400, "parsed"), make_file("old", 9_000, "indexed")]
    times.note("c", first, START)
    assert times.estimate(first, START) is None, "nothing is known yet, and nothing is made up"
    times.note("c", [make_file("a", 600, "indexed"), make_file("b", 400, "failed"), first[2]], START + timedelta(seconds=10))
    assert (times.size, times.took) == (600, timedelta(seconds=10)), "a file that failed was not read"
    second = [make_file("d", 1_800, "received")]
    assert times.estimate(second, START + timedelta(seconds=12)) == timedelta(seconds=18)
    assert times.estimate(second, START + timedelta(minutes=5)) == timedelta(seconds=1), "it is late, and not over"
    assert times.estimate([make_file("d", 1_800, "indexed")], START) is None
