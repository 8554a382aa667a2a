"""A cycle with a stage for the writer: exam and gate are real, the steps around them are toys."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.model_versions import VersionState
from app.domain.served_models import ModelRole
from app.models.service.registry import find_version
from app.models.storage import aliases
from tests.support.adapter_server import serve_adapters
from tests.training.loop.exam_stage import DEEPER, PAID, WRITER_GATE, make_report_row, write_sided_set
from tests.training.loop.told_writers import SOUND, let_candidate_write
from tests.workflows.durable.retraining.toy_cycle import ANN, STAGE, ToyLoop
from tests.workflows.durable.whole_product import WholeProduct


@pytest.fixture
async def loop(house: WholeProduct, tmp_path: Path) -> AsyncIterator[ToyLoop]:
    async with serve_adapters() as server:
        yield ToyLoop(house, tmp_path / "loop", server)


def write_plan(loop: ToyLoop, folder: Path) -> Path:
    """Write a plan whose one stage is examined by reports on held-out questions."""
    path = loop.write_plan(stages=STAGE.replace('"rubric"', '"writer"', 2))
    held_out = write_sided_set(folder / "reports", "report-data", map(make_report_row, range(28)))
    (path.parent / "exam.toml").write_text(f'kind = "reports"\nsets = ["{held_out}"]\n')
    (path.parent / "gate.toml").write_text(WRITER_GATE)
    loop.script(writer_exam={"real": True}, writer_gate={"real": True})
    return path


async def test_a_better_writer_gets_its_role(loop: ToyLoop, tmp_path: Path) -> None:
    loop.server.speech = let_candidate_write(SOUND)
    async with loop.worker():
        cycle = await loop.cycles.start(write_plan(loop, tmp_path), ANN)
        await loop.wait_for(cycle.id, "promoted")
    version = await find_version(loop.house.database, "writer-v1")
    assert version.state is VersionState.SERVING
    assert (await aliases.list_all(loop.house.database))[ModelRole.WRITER].served == version.name


async def test_a_writer_whose_citations_carry_less_is_refused(loop: ToyLoop, tmp_path: Path) -> None:
    loop.server.speech = let_candidate_write(f"# Ashford\n\n{PAID[:-1]} [q2]. {DEEPER[:-1]} [q1].")
    async with loop.worker():
        cycle = await loop.cycles.start(write_plan(loop, tmp_path), ANN)
        ended = await loop.wait_for(cycle.id, "refused")
    assert "citation_support (non-inferiority, margin 0.02): the opposite is shown" in ended.detail
    assert (await find_version(loop.house.database, "writer-v1")).state is VersionState.REFUSED
    assert await aliases.list_all(loop.house.database) == {}
