"""A model's server that refuses everything pauses its runs, says why, and costs nothing twice."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from app.domain.contract import workflow_id
from app.domain.plan import Subtask
from app.domain.run import EventType, RunStatus, WaitReason
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_faults import Fault
from tests.workflows.durable.whole_product import WholeProduct
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.chat_models.openai_dialect import PLAINER
from workflows.durable.policies import REFUSALS_IN_A_ROW

CALLS = 17
ALWAYS = 1_000


@contextlib.asynccontextmanager
async def work_with_a_server(house: WholeProduct, fault: Fault, step: str = "") -> AsyncIterator[ModelStub]:
    """Run a worker over a model's server that answers every call of a step with the fault."""
    async with (
        serve_model_stub() as stub,
        connect_model(ModelEndpoint(stub.base_url, "toy")) as model,
        house.start_worker(chat=model),
    ):
        stub.faults.order(fault, step, ALWAYS)
        yield stub


@pytest.mark.parametrize(
    ("fault", "advice"),
    [
        (Fault.UNAUTHORIZED, "RUBRICA_LLM_API_KEY"),
        (Fault.NOT_FOUND, "RUBRICA_LLM_BASE_URL"),
        (Fault.NO_MODEL, "model 'toy' not found"),
        (Fault.NO_CREDIT, "top it up or raise its limit"),
        (Fault.HTML, "does not speak the chat-completions protocol"),
    ],
)
async def test_a_refusal_in_the_middle_pauses_the_run_and_resume_goes_on(house: WholeProduct, fault: Fault, advice: str) -> None:
    async with work_with_a_server(house, fault, "act") as stub:
        run_id = await house.ask()
        run = await house.wait_for(run_id, RunStatus.PAUSED)
        assert run.reason is WaitReason.MODEL_REFUSED
        assert advice in run.detail
        told = (await house.list_events(run_id, EventType.STATUS_CHANGED))[-1]["payload"]
        assert told["reason"] == "model_refused"
        assert told["options"] == ["resume", "finish", "cancel"]
        stub.faults.ordered.clear()
        await house.steering.resume(run_id, finish=False)
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
        assert stub.bill.outcomes["answered"] == CALLS
    assert run.reason is None
    assert run.usage.model_calls == CALLS


@pytest.mark.parametrize("fault", [Fault.UNAUTHORIZED, Fault.HTML, Fault.BAD_REQUEST])
async def test_a_refusal_at_the_start_is_said_before_anything_is_spent(house: WholeProduct, fault: Fault) -> None:
    async with work_with_a_server(house, fault) as stub:
        run = await house.wait_for(await house.ask(), RunStatus.PAUSED)
        refused = stub.bill.outcomes[fault]
    assert run.reason is WaitReason.MODEL_REFUSED
    assert run.usage.model_calls == 0
    tried_otherwise = len(PLAINER) if fault is Fault.BAD_REQUEST else 0
    assert refused == (1 if fault is Fault.UNAUTHORIZED else REFUSALS_IN_A_ROW + tried_otherwise)


async def test_a_context_that_is_too_short_for_every_call_is_said_as_that(house: WholeProduct) -> None:
    """Nothing is found because nothing was asked: a report without evidence would say the opposite."""
    async with work_with_a_server(house, Fault.TOO_LONG) as stub:
        run_id = await house.ask()
        run = await house.wait_for(run_id, RunStatus.PAUSED)
        assert run.reason is WaitReason.CONTEXT_TOO_LONG
        assert "maximum context length is 2048" in run.detail
        assert "larger context" in run.detail
        assert "smaller effort" in run.detail
        assert run.usage.model_calls == 0
        stub.faults.ordered.clear()
        await house.steering.resume(run_id, finish=False)
        await house.wait_for(run_id, RunStatus.COMPLETED)


@pytest.mark.parametrize("choice", ["finish", "pause", "cancel"])
async def test_a_server_that_asks_for_an_hour_leaves_the_choice_to_the_reader(house: WholeProduct, choice: str) -> None:
    async with work_with_a_server(house, Fault.RATE_LIMITED, "act") as stub:
        stub.faults.retry_after_s = 3_600
        run_id = await house.ask()
        while (await house.get_run(run_id)).reason is not WaitReason.MODEL_BUSY:
            await asyncio.sleep(0.05)
        told = (await house.list_events(run_id, EventType.WAITING))[-1]["payload"]
        assert told["options"] == ["wait", "finish", "pause", "cancel"]
        assert told["retry_in_s"] > 3_500
        if choice == "finish":
            await house.steering.resume(run_id, finish=True)
            await house.wait_for(run_id, RunStatus.COMPLETED)
            assert "language model did not write this report" in await house.read_report_markdown(run_id)
        elif choice == "pause":
            await house.steering.pause(run_id)
            assert (await house.wait_for(run_id, RunStatus.PAUSED)).reason is None
        else:
            await house.steering.cancel(run_id)
            await house.wait_for(run_id, RunStatus.CANCELLED)


async def test_a_refused_run_can_finish_without_the_model_and_the_report_says_so_first(house: WholeProduct) -> None:
    async with work_with_a_server(house, Fault.UNAUTHORIZED, "outline"):
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.PAUSED)
        await house.steering.resume(run_id, finish=True)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    notices = [line for line in (await house.read_report_markdown(run_id)).splitlines() if line.startswith(">")]
    assert "language model did not write this report" in notices[0]


@pytest.mark.parametrize("fault", [Fault.UNAUTHORIZED, Fault.BAD_REQUEST])
async def test_a_refused_run_whose_workflow_is_lost_still_waits_for_its_reader(house: WholeProduct, fault: Fault) -> None:
    async with work_with_a_server(house, fault) as stub:
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.PAUSED)
        await house.client.get_workflow_handle(workflow_id(run_id)).terminate()
        await house.make_reconciler().reconcile_once()  # the worker's own may have been first
        assert (await house.get_run(run_id)).reason is WaitReason.MODEL_REFUSED
        stub.faults.ordered.clear()
        await house.steering.resume(run_id, finish=False)
        await house.wait_for(run_id, RunStatus.COMPLETED)
        assert stub.bill.outcomes["answered"] == CALLS


async def test_resuming_repeats_every_part_that_a_refusal_cost(house: WholeProduct) -> None:
    """The first two parts that a server refuses without a known reason fail; the third pauses the run."""
    async with work_with_a_server(house, Fault.WITHHELD, "act") as stub:
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.PAUSED)
        assert sorted(await list_stops(house, run_id)) == ["failed", "failed", "sufficient"]
        stub.faults.ordered.clear()
        await house.steering.resume(run_id, finish=False)
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
        assert stub.bill.outcomes["answered"] == CALLS
    assert run.usage.model_calls == CALLS
    assert "failed" not in await house.read_report_markdown(run_id)


async def test_what_was_answered_before_a_refusal_is_not_paid_for_again(house: WholeProduct) -> None:
    everybody_searches = asyncio.Barrier(3)

    async with work_with_a_server(house, Fault.WITHHELD, "nothing yet") as stub:

        async def refuse_second_turns(query: str) -> None:
            if query.endswith(" 0"):
                await everybody_searches.wait()
                stub.faults.order(Fault.WITHHELD, "act", ALWAYS)

        house.index.hook = refuse_second_turns
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.PAUSED)
        stub.faults.ordered.clear()
        await house.steering.resume(run_id, finish=False)
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
        assert stub.bill.outcomes["answered"] == CALLS
    assert run.usage.model_calls == CALLS


@pytest.mark.parametrize("fault", [Fault.BAD_REQUEST, Fault.TOO_LONG])
async def test_a_plan_that_a_refusal_cost_is_made_when_the_run_is_resumed(house: WholeProduct, fault: Fault) -> None:
    async with work_with_a_server(house, fault) as stub:
        run_id = await house.ask()
        refused = await house.wait_for(run_id, RunStatus.PAUSED)
        assert refused.plan is not None
        assert len(refused.plan.subtasks) == 1
        stub.faults.ordered.clear()
        await house.steering.resume(run_id, finish=False)
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
        assert stub.bill.outcomes["answered"] == CALLS
    assert run.plan is not None
    assert len(run.plan.subtasks) == 3


async def test_a_plan_that_a_person_changed_meanwhile_stays(house: WholeProduct) -> None:
    async with work_with_a_server(house, Fault.BAD_REQUEST) as stub:
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.PAUSED)
        await house.steering.add_subtask(run_id, Subtask(id="mine", title="My own", question="And then?"))
        stub.faults.ordered.clear()
        await house.steering.resume(run_id, finish=False)
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert run.plan is not None
    assert [subtask.id for subtask in run.plan.subtasks] == ["s1", "mine"]
    assert "failed" not in await house.read_report_markdown(run_id)


async def list_stops(house: WholeProduct, run_id: UUID) -> list[str]:
    return [event["payload"]["stop"] for event in await house.list_events(run_id, EventType.STAGE_FINISHED)]
