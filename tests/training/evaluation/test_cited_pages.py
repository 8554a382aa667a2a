"""The pages that a run keeps for its judges: what a report quotes stands in them, however far down."""

from pathlib import Path

from app.domain.evidence import Quote, Source, snapshot_hash
from app.domain.query import Effort
from app.settings import Settings
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.training.evaluation.small_benchmark import COLLECTION, TEXT, index_collection, write_benchmark
from training.evaluation.harness.cited_pages import AROUND, GAP, MOST_PAGE_CHARS, cut_page, group_cited_quotes
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.run_request import RunRequest
from training.evaluation.harness.starting import run_benchmark

FILLER = "The weather of that year was mild, and the harvest was good.\n\n"


async def test_a_quotation_from_far_down_a_page_stands_in_the_kept_page(tmp_path: Path) -> None:
    index_collection(tmp_path / "home", tmp_path / "docs", FILLER * (MOST_PAGE_CHARS // len(FILLER) + 50) + TEXT)
    wanted = RunRequest(
        "drb-race",
        write_benchmark(tmp_path / "data"),
        tmp_path / "run",
        ids=("1",),
        effort=Effort.QUICK,
        collections=(COLLECTION,),
        demonstration=True,
    )
    async with serve_model_stub(ModelStub()) as stub:
        given = {"llm_base_url": stub.base_url, "llm_model": "stub", "home": tmp_path / "home"}
        await run_benchmark(Settings.model_validate(given), wanted, lambda _: None)
    folder = RunFolder(tmp_path / "run")
    answer = folder.read_answers()["1"]
    assert answer.report
    ((url, quotes),) = group_cited_quotes(answer.report).items()
    page = folder.read_page(answer.pages[url])
    assert any(quote.start > MOST_PAGE_CHARS for quote in quotes)
    assert [quote.text for quote in quotes if quote.text not in page] == []
    assert len(page) <= MOST_PAGE_CHARS


def test_a_long_page_keeps_its_beginning_and_what_stands_around_all_quotes() -> None:
    text = "".join(f"{number:07} " for number in range(20_000))
    source = Source(url="https://a.example", title="A", snapshot=snapshot_hash(text))

    def quote_at(start: int) -> Quote:
        return Quote(source=source, text=text[start : start + 80], start=start, end=start + 80)

    near, late, later, last = (quote_at(start) for start in (59_000, 90_000, 90_400, 159_920))
    assert cut_page(text) == cut_page(text, [near]) == text[:MOST_PAGE_CHARS]
    head, *around = cut_page(text, [last, later, near, late]).split(GAP)
    assert text.startswith(head)
    assert len(head) > MOST_PAGE_CHARS - 8 * AROUND
    assert around == [text[58_000:60_080], text[89_000:91_480], text[158_920:]]
    crowded = cut_page(text, [quote_at(start) for start in range(0, 159_000, 2_500)])
    assert len(crowded) == MOST_PAGE_CHARS
