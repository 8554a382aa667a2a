"""What stands around a quote in the stored copy of its source."""

import asyncpg

from app.domain.evidence import Quote, Source, snapshot_hash
from app.reports.storage.reports import SURROUNDING_CHARS, TEXTS_AT_ONCE, Surroundings, find_surroundings
from app.runs.storage.run_log import RunLog, SourceSnapshot
from tests.app.conftest import NewRun
from tests.support.stage_opening import open_stage

FILLER = "关税 é “words” 🙂 " * 60


def quote_in(text: str, said: str) -> Quote:
    start = text.index(said)
    source = Source(url=f"https://example.org/{snapshot_hash(text)[:8]}", title="A source", snapshot=snapshot_hash(text))
    return Quote(source=source, text=said, start=start, end=start + len(said))


async def test_every_quote_gets_its_own_words_around_it(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    texts = [f"{FILLER}left {n} THE QUOTE {n}. right {n}{FILLER}" for n in range(2 * TEXTS_AT_ONCE + 1)]
    short = "At the very start stands this."
    run = await new_run()
    opening = await open_stage(run_log, run, "search/s1", None)
    stored = [SourceSnapshot(snapshot_hash(text), text) for text in [*texts, short]]
    await run_log.close_stage(run, "search/s1", opening.attempt, b"{}", stored, {})
    quotes = [quote_in(text, f"THE QUOTE {n}.") for n, text in enumerate(texts)]
    whole = quote_in(short, short)
    unknown = quote_in("never stored anywhere", "never")
    found = await find_surroundings(pool, [*quotes, whole, unknown])
    for n, quote in enumerate(quotes):
        around = found[quote.key]
        assert around.before.endswith(f"left {n} ")
        assert around.after.startswith(f" right {n}")
        assert texts[n].count(around.before + quote.text + around.after) == 1
        assert max(map(len, around)) <= SURROUNDING_CHARS
    assert found[whole.key] == Surroundings("", "")
    assert unknown.key not in found
