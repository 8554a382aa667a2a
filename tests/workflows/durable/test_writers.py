"""With what a report was written: as the run asks, told in its lineage, and never more than the installation offers."""

from pathlib import Path

import orjson
import pytest

from app.domain.query import ResearchQuery
from app.domain.run import RunStatus
from app.domain.writer import Agents, Arrangement, WriterSettings
from tests.workflows.durable.toys import ToyModel
from tests.workflows.durable.whole_product import WholeProduct
from workflows.prompts.library import PromptError, PromptLibrary

RESULT = "SELECT result FROM stages WHERE run_id = $1 AND stage = 'report'"


async def written(house: WholeProduct, writer: WriterSettings) -> tuple[dict[str, object], str]:
    """The lineage and the Markdown of a report that is written so."""
    made = await house.runs.create(ResearchQuery(question="why tariffs?", writer=writer))
    await house.wait_for(made.id, RunStatus.COMPLETED)
    return orjson.loads(await house.database.fetchval(RESULT, made.id))["lineage"], await house.read_report_markdown(made.id)


async def test_a_report_is_written_as_its_run_asks_and_says_with_what(house: WholeProduct) -> None:
    other = ToyModel(name="other")
    async with house.start_worker(prompts=PromptLibrary.load(), others=[other]) as shop:
        shop.build = "b1"
        usual, _ = await written(house, WriterSettings())
        assert (usual["system"], usual["agents"], usual["model"], usual["build"]) == ("minddr", "model", "toy", "b1")
        assert usual["prompts"]["single_pass/v3/en"] == shop.models.main.prompts.digests["single_pass/v3/en"]  # type: ignore[index]

        asked = len(house.model.asked)
        warm, _ = await written(house, WriterSettings(model="other", temperature=0.9))
        assert (warm["model"], warm["temperature"]) == ("other", 0.9)
        # The report's seven calls went to the other model, plan and searches to the usual one.
        assert (len(other.asked), len(house.model.asked) - asked) == (7, 10)

        quoted, text = await written(house, WriterSettings(agents=Agents.BRIEF, arrangement=Arrangement.TIME))
        assert (quoted["agents"], quoted["arrangement"], quoted["model"]) == ("brief", "time", "")
        assert "Extracts" in text

        refused, text = await written(house, WriterSettings(model="none-such"))
        assert refused["agents"] == "brief"
        assert "does not offer the model" in text
        refused, text = await written(house, WriterSettings(prompts={"section": "v9"}))
        assert refused["agents"] == "brief"


def test_a_chosen_prompt_is_used_and_told(tmp_path: Path) -> None:
    (tmp_path / "greet").mkdir()
    for version, word in (("v1", "Hello"), ("v2", "Good day")):
        for language in ("", ".zh"):
            (tmp_path / "greet" / f"{version}{language}.md").write_text(f"=== user ===\n{word}", encoding="utf-8")
    library = PromptLibrary.load(tmp_path)
    query = ResearchQuery(question="why?")
    chosen = library.choose_versions({"greet": "v2"})
    assert chosen.get("greet", query.language).render_text() == "Good day"
    assert list(chosen.list_used(query.language)) == ["greet/v2/en"]
    assert (library.get("greet", query.language).render_text(), list(library.list_used(query.language))) == (
        "Hello",
        ["greet/v1/en"],
    )
    with pytest.raises(PromptError, match="v3"):
        library.choose_versions({"greet": "v3"})
