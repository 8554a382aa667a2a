"""Words that no passage holds, and what they may have been meant to be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.domain.errors import ToolError
from retrieval.ports import SearchFilter
from retrieval.search.in_process import LocalSearcher, open_local
from retrieval.store.catalogue import Collection, CorpusKind

NOTES = SearchFilter(collections=("notes",))
FILES = {
    "notes": "The tariffs on wool rose. Tariffs on tea fell, and the government of Lincoln kept them.\n\nThe government and its "
    "ministers spoke of education; an educator did too. The middle of the canal froze. Immigrants came by sea, and immigrants "
    "came by land. Of Lincoln more is told: in the accommodation of the immigrants Lincoln and his Government had a part.\n\n"
    "The middle way was to wait.",
    "secret": "The zebrawood ledger names the government.",
}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSearcher]:
    """A collection for all, in passages of their own, and one of a tenant."""
    root = tmp_path_factory.mktemp("spelling")
    for name, text in FILES.items():
        (root / name).mkdir()
        for number, paragraph in enumerate(text.split("\n\n")):
            (root / name / f"{number}.txt").write_text(paragraph)
    notes = Collection(name="notes", kind=CorpusKind.FOLDER, path=str(root / "notes"))
    secret = Collection(name="secret", kind=CorpusKind.FOLDER, path=str(root / "secret"), tenant="them")
    with open_local(Path(root / "home"), notes, secret) as opened:
        yield opened


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("goverment", "government"),  # a letter left out
        ("govvernment", "government"),  # one too many
        ("goverNmetn", "government"),  # two exchanged
        ("edukation", "education"),  # one that sounds alike
        ("acomodation", "accommodation"),  # two single letters
        ("educaton", "education"),  # "educator" is as near, by a letter that no one hears so
    ],
)
async def test_a_slip_finds_the_word_that_was_meant(written: str, read: str, searcher: LocalSearcher) -> None:
    assert await searcher.respell([written], NOTES) == {written: read}


async def test_a_word_that_is_there_is_left_alone_in_whatever_form(searcher: LocalSearcher) -> None:
    assert await searcher.respell(["tariff", "Immigrant", "minister", "governments"], NOTES) == {}


async def test_a_name_is_only_read_as_a_name(searcher: LocalSearcher) -> None:
    found = await searcher.respell(["Lincon", "lincon", "Biddle", "middel"], NOTES)
    assert found == {"Lincon": "Lincoln", "lincon": "", "Biddle": "", "middel": "middle"}


async def test_what_is_near_to_nothing_is_said_to_be_there_in_no_form(searcher: LocalSearcher) -> None:
    asked = ["photosynthesis", "firing", "x" * 60, "ta", "关税制度"]
    assert await searcher.respell(asked, NOTES) == dict.fromkeys(asked, "")


async def test_nobody_learns_what_words_another_tenants_documents_hold(searcher: LocalSearcher) -> None:
    assert await searcher.respell(["zebrawod"], SearchFilter(collections=("secret",), tenant="them")) == {"zebrawod": "zebrawood"}
    assert await searcher.respell(["zebrawod", "zebrawood"], NOTES) == {"zebrawod": "", "zebrawood": ""}
    with pytest.raises(ToolError, match="no collection 'secret'"):
        await searcher.respell(["zebrawod"], SearchFilter(collections=("secret",), tenant="us"))
