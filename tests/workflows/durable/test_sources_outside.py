"""A durable run that cites a snippet of a web search: the text is kept, and the citation opens it."""

from dataclasses import replace
from pathlib import Path

import orjson

from app.domain.chat import ToolCall
from app.domain.evidence import snapshot_hash
from app.domain.run import RunStatus
from app.outside_calls.storage import OutsideCallStore
from retrieval.outside import http
from retrieval.outside.entrance import Entrance
from retrieval.outside.services import PROVIDERS
from retrieval.outside.web.searching import OutsideSearch
from retrieval.tape import Tape
from tests.support.outside_stub import answer_with, serve_outside
from tests.workflows.durable.whole_product import WholeProduct
from workflows.tools.toolbox import OutsideTools

SNIPPET = "The tariff of 1890 was defended as the shield of labor."


async def test_a_snippet_of_the_web_is_cited_and_its_text_stays(house: WholeProduct, tmp_path: Path) -> None:
    found = {"organic": [{"title": "On the web", "link": "https://web.example/1", "snippet": SNIPPET}]}
    async with serve_outside(answer_with(found)) as stub, http.open_exchange() as exchange:
        serper = replace(PROVIDERS["serper"]("k"), url=stub.url)
        web = OutsideSearch("web", Entrance(OutsideCallStore(house.database)), exchange, [serper])
        async with house.start_worker() as shop:
            shop.outside_tools = OutsideTools(web=web)
            run_id = await house.ask()
            await house.wait_for(run_id, RunStatus.COMPLETED)
        assert 0 < len(stub.seen) <= 9
    (tmp_path / "tape").write_bytes(await house.runs.get_tape(run_id))
    played = Tape.load(tmp_path / "tape").play(ToolCall(name="search", arguments={"query": "s1 0"}))
    assert played is not None
    assert SNIPPET in [passage.text for passage in played.passages]
    evidence = orjson.loads(await house.runs.get_evidence(run_id))
    cited = [citation for citation in evidence["citations"] if citation["source"]["url"] == "https://web.example/1"]
    for citation in cited:
        text = (await house.runs.get_snapshot(citation["source"]["snapshot"])).decode()
        assert text[citation["start"] : citation["end"]] == citation["quote"]
    assert (await house.runs.get_snapshot(snapshot_hash(SNIPPET))).decode() == SNIPPET
