"""A cycle whose steps are toys, on real PostgreSQL and Temporal."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.database.tenancy import Tenant
from app.domain.retraining import Cycle, CycleEventType
from app.models.artifacts.folder import FolderArtifacts
from app.models.service.acts import Actor
from app.models.service.cycles import Cycles
from app.models.service.temporal_gateway import TemporalCycles
from tests.support.adapter_server import AdapterServer
from tests.workflows.durable.retraining import toy_steps
from tests.workflows.durable.whole_product import WholeProduct

STAGE = """
[[stages]]
name = "rubric"
role = "rubric"
recipe = "rubric_generator"
config = "recipe.toml"
kind = "preference-pairs"
gate = "gate.toml"
exam = "exam.toml"
server = {{address = "{url}", base = "base", temperature = 1.0}}
"""
ANN = Actor("ann@example.org", Tenant(LOCAL_ORGANISATION))
BEN = Actor("ben@example.org", Tenant(LOCAL_ORGANISATION))
SHORT_CANARY = "canary = {longest = 'PT1S', least_runs = 0}"


@dataclass
class ToyLoop:
    """A folder of cycles with a plan, and the use cases over it."""

    house: WholeProduct
    folder: Path
    server: AdapterServer

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.cycles = Cycles(self.house.database, self.folder, TemporalCycles(self.house.address))
        self.script()

    def script(self, **steps: dict[str, Any]) -> None:
        """Say what steps do; `rubric_train` is the step `rubric.train`."""
        named = {name.replace("_", "."): told for name, told in steps.items()}
        (self.folder / "script.json").write_text(json.dumps(named))

    def write_plan(self, head: str = "", stages: str = STAGE, name: str = "weekly", canary: str = SHORT_CANARY) -> Path:
        place = self.folder.parent / f"plan-{name}"
        place.mkdir(exist_ok=True)
        for file in ("recipe.toml", "gate.toml", "exam.toml"):
            (place / file).touch()
        (place / "plan.toml").write_text(
            f'name = "{name}"\nsince = 2026-01-01T00:00:00Z\n{head}\n{canary}\n{stages.format(url=self.server.url)}'
        )
        return place / "plan.toml"

    @property
    def python(self) -> str:
        """An interpreter in the place of the one that trains."""
        place = self.folder.parent / "python"
        place.write_text(f'#!/bin/sh\nexec {sys.executable} {toy_steps.__file__} "$@"\n')
        place.chmod(0o755)
        return str(place)

    @contextlib.asynccontextmanager
    async def worker(self, **options: Any) -> AsyncIterator[None]:
        async with self.house.start_worker(
            loop=self.folder, train_python=self.python, **{"artifacts": FolderArtifacts(self.folder / "artifacts"), **options}
        ):
            yield

    async def wait_for(self, cycle: UUID, *states: str) -> Cycle:
        while (found := await self.cycles.get(cycle)).state not in states:
            assert not found.state.finished, f"{found.state}: {found.detail}"
            await asyncio.sleep(0.05)
        return found

    async def wait_for_ticks(self, cycle: UUID, step: str, ticks: int) -> None:
        progress = self.folder / str(cycle) / step / "progress.json"
        while not progress.exists() or not progress.read_text() or json.loads(progress.read_text())["ticks"] < ticks:
            await asyncio.sleep(0.05)

    @property
    def starts(self) -> list[str]:
        file = self.folder / "starts.txt"
        return file.read_text().split() if file.exists() else []

    async def list_told(self, cycle: UUID, kind: CycleEventType) -> list[dict[str, Any]]:
        return [event.payload for event in await self.cycles.list_events(cycle) if event.type is kind]
