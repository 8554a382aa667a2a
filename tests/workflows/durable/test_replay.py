"""Captured histories replay on today's code, and a workflow that decides otherwise is caught."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.common import VersioningBehavior
from temporalio.worker import Replayer

import tests.histories
from app.domain.contract import RESEARCH_WORKFLOW, ResearchInput
from app.runs.service.temporal_payloads import noun_converter
from workflows.durable.fleet_workflow import FleetWorkflow
from workflows.durable.research_workflow import ParkedRunWorkflow, ResearchWorkflow

HISTORIES = sorted(Path(tests.histories.__path__[0]).glob("*.json"), key=lambda path: int(path.stem.partition("_")[0]))


def history(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json("captured", path.read_text(encoding="utf-8"))


def test_all_workflows_of_the_runs_and_the_fleet_were_captured() -> None:
    captured = ["1_research", "2_parked", "3_research", "4_research", "5_parked", "6_research"]
    captured += [f"{number}_fleet" for number in (7, 8, 9, 10)]
    captured += ["11_research", "12_parked", "13_research"]
    assert [path.stem for path in HISTORIES] == captured


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_a_captured_history_replays(path: Path) -> None:
    replayer = Replayer(workflows=[ResearchWorkflow, ParkedRunWorkflow, FleetWorkflow], data_converter=noun_converter)
    await replayer.replay_workflow(history(path))


@workflow.defn(name=RESEARCH_WORKFLOW, versioning_behavior=VersioningBehavior.PINNED, sandboxed=False)
class ReportFirst(ResearchWorkflow):
    """A version that would have asked for another activity first."""

    @workflow.init
    def __init__(self, start: ResearchInput) -> None:
        super().__init__(start)

    @workflow.run
    async def run(self, start: ResearchInput) -> None:
        await workflow.execute_activity("warm_up", start_to_close_timeout=timedelta(seconds=1))
        await super().run(start)


@workflow.defn(name=RESEARCH_WORKFLOW, versioning_behavior=VersioningBehavior.PINNED, sandboxed=False)
class CutShort(ResearchWorkflow):
    """A version that would have ended at once."""

    @workflow.init
    def __init__(self, start: ResearchInput) -> None:
        super().__init__(start)

    @workflow.run
    async def run(self, start: ResearchInput) -> None:
        await asyncio.sleep(0)


@pytest.mark.parametrize("changed", [ReportFirst, CutShort])
async def test_a_changed_workflow_is_caught(changed: type[ResearchWorkflow]) -> None:
    replayer = Replayer(workflows=[changed], data_converter=noun_converter)
    with pytest.raises(workflow.NondeterminismError):
        await replayer.replay_workflow(history(HISTORIES[0]))
