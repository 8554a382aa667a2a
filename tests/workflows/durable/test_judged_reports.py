"""Claims of reports in real runs: who judges them, and when a model is paid to."""

import pytest

from app.domain.budget import Budget
from app.domain.query import Effort
from app.domain.run import EventType, RunStatus
from app.settings import ClaimGrader
from tests.workflows.durable.whole_product import WholeProduct
from workflows.prompts.library import PromptLibrary


@pytest.mark.parametrize(
    ("effort", "budget"), [(Effort.QUICK, Budget()), (Effort.STANDARD, Budget(max_tokens=1_000_000)), (Effort.DEEP, Budget())]
)
async def test_a_model_judges_claims_at_every_effort_and_within_the_cap(
    house: WholeProduct, effort: Effort, budget: Budget
) -> None:
    async with house.start_worker(prompts=PromptLibrary.load()) as shop:
        shop.judge = ClaimGrader.MODEL
        run_id = await house.ask(effort=effort, budget=budget)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    calls = await house.list_events(run_id, EventType.MODEL_CALL)
    assert any(call["agent"].startswith("report/support/") for call in calls)
    [ready] = await house.list_events(run_id, EventType.REPORT_READY)
    assert sum(ready["payload"]["claims"].values()) > 0
