"""The second reports of a canary, by a real worker: who gets one, what is made anew, who pays, and what votes tell."""

from uuid import UUID, uuid4

import pytest

from app.accounts.nouns.access import LOCAL_ORGANISATION, LOCAL_USER
from app.asking.storage import rubrics
from app.comparisons.service.comparisons import Comparisons, ShownComparison
from app.comparisons.storage import trials
from app.domain.limits import Consumption
from app.domain.model_versions import Canary
from app.domain.run import EventType, RunStatus
from app.domain.served_models import ModelRole, ServedModel
from app.models.service import serving
from app.models.storage.canary_observations import list_observations
from app.preferences.nouns.feedback import CandidatePlace, Choice, ChoiceVerdict
from app.quotas.storage import quotas
from app.schedules.storage.living_runs import Owner, act_for
from app.statistics.arm_comparison import Arm
from app.statistics.canary import Vote
from tests.app.models.trained_models import add_version
from tests.workflows.durable.test_rubric_stage import Judge
from tests.workflows.durable.whole_product import WholeProduct
from workflows.durable.retraining.own_steps.second_reports import ask_second_reports
from workflows.prompts.library import PromptLibrary

HERE = "http://127.0.0.1:9/v1"
ALL, NOBODY = 1.0, 1e-12
CANDIDATE, STABLE = "candidate", "toy"
MUCH = 10.0
WRITING = {"report"}


class OtherJudge(Judge):
    """A model that words things in its own way."""

    async def complete(self, request):  # type: ignore[no-untyped-def]
        done = await super().complete(request)
        return done.model_copy(update={"text": done.text.replace("re:", "as to")})


async def begin_canary(
    house: WholeProduct,
    role: ModelRole = ModelRole.WRITER,
    share: float = ALL,
    agreed: bool = True,
    also: tuple[ModelRole, ...] = (),
) -> Canary:
    """Let a candidate serve a share of the organisations, of which there is one."""
    pool = house.database
    await serving.register_settings(pool, [ServedModel(name=STABLE, address=HERE)])
    version = await add_version(pool, role=role, also=also)
    await serving.add_model(pool, ServedModel(name=CANDIDATE, address=HERE, version=version.id))
    if agreed:
        await pool.execute("INSERT INTO organisation_consents (organisation_id) VALUES ($1)", LOCAL_ORGANISATION)
        await pool.execute(
            "INSERT INTO person_consents (organisation_id, user_id) VALUES ($1, $2)", LOCAL_ORGANISATION, LOCAL_USER
        )
    async with pool.acquire() as connection, connection.transaction():
        return await serving.start_canary(connection, uuid4(), version.id, CANDIDATE, share)


async def finish_run(house: WholeProduct, rubric: bool = False) -> UUID:
    run_id = await house.ask(rubric=rubric)
    await house.wait_for(run_id, RunStatus.COMPLETED)
    await house.database.execute("UPDATE runs SET created_by = $2 WHERE id = $1", run_id, LOCAL_USER)
    return run_id


async def compare_again(house: WholeProduct, canary: Canary, most_usd: float = MUCH) -> list[UUID]:
    """Ask for second reports as a canary's step does; return the runs that make them, started."""
    await ask_second_reports(house.database, canary, 1.0, most_usd)
    await house.make_reconciler().reconcile_once()
    return [row["made_run_id"] for row in await house.database.fetch("SELECT made_run_id FROM comparisons ORDER BY created_at")]


async def show(house: WholeProduct, made: UUID) -> ShownComparison:
    await house.wait_for(made, RunStatus.COMPLETED)
    id_ = await house.database.fetchval("SELECT id FROM comparisons WHERE made_run_id = $1", made)
    return await Comparisons(house.database, house.runs, house.steering).show(id_, LOCAL_USER)


async def list_stages(house: WholeProduct, run_id: UUID) -> set[str]:
    return {event["payload"]["stage"] for event in await house.list_events(run_id, EventType.STAGE_STARTED)}


def names_of(shown: ShownComparison, role: ModelRole) -> tuple[str, str]:
    """The models of a role that the delivered report and the second one had."""
    delivered, second = (shown.candidates[place].lineage.models.of(role) for place in CandidatePlace)
    return delivered, second


async def read_used(house: WholeProduct) -> Consumption:
    async with house.database.acquire() as connection, connection.transaction():
        await act_for(connection, Owner(LOCAL_ORGANISATION, LOCAL_USER))
        return await quotas.get_used(connection)


@pytest.mark.parametrize(("share", "arms"), [(ALL, (CANDIDATE, STABLE)), (NOBODY, (STABLE, CANDIDATE))])
async def test_a_report_of_either_arm_is_written_again_by_the_other_over_the_same_evidence(
    house: WholeProduct, share: float, arms: tuple[str, str]
) -> None:
    canary = await begin_canary(house, share=share)
    async with house.start_worker(others=[OtherJudge(name=CANDIDATE)]):
        run_id = await finish_run(house)
        used, searched = await read_used(house), len(house.index.searched)
        [made] = await compare_again(house, canary)
        shown = await show(house, made)
    assert names_of(shown, ModelRole.WRITER) == arms
    assert (await list_stages(house, made), len(house.index.searched)) == (WRITING, searched)
    assert await read_used(house) == used, "the deployment pays"
    assert await compare_again(house, canary) == [made], "once"
    assert (await house.get_run(run_id)).usage.tokens == used.tokens


async def test_a_vote_between_both_is_one_for_or_against_the_candidate(house: WholeProduct) -> None:
    canary = await begin_canary(house)
    async with house.start_worker(others=[OtherJudge(name=CANDIDATE)]):
        await finish_run(house)
        [made] = await compare_again(house, canary)
        shown = await show(house, made)
    assert shown.viewing
    side = shown.viewing.side_of(CandidatePlace.ALTERNATIVE)
    comparisons = Comparisons(house.database, house.runs, house.steering)
    await comparisons.choose(shown.comparison.id, Choice(verdict=ChoiceVerdict(side.value), strength=2), LOCAL_USER)
    assert Vote(Arm.STABLE) in await list_observations(house.database, canary)
    _, version = await comparisons.reveal(shown.comparison.id, LOCAL_USER, adopt=True)
    assert version is None, "nobody asked for the second report, so it takes no report's place"


@pytest.mark.parametrize(
    ("role", "made_anew"),
    [
        (ModelRole.PLANNER, {"plan", "search/s1", "search/s2", "search/s3", "report"}),
        (ModelRole.SEARCHER, {"search/s1", "search/s2", "search/s3", "report"}),
        (ModelRole.JUDGE, {"report"}),
    ],
)
async def test_what_the_roles_model_did_is_done_again_and_nothing_before_it(
    house: WholeProduct, role: ModelRole, made_anew: set[str]
) -> None:
    canary = await begin_canary(house, role)
    async with house.start_worker(others=[OtherJudge(name=CANDIDATE)]):
        run_id = await finish_run(house)
        [made] = await compare_again(house, canary)
        await house.wait_for(made, RunStatus.COMPLETED)
    assert await list_stages(house, made) == made_anew & await list_stages(house, run_id)
    digest = await house.database.fetchval("SELECT evidence_digest FROM comparisons WHERE made_run_id = $1", made)
    assert bool(digest) == (made_anew == WRITING), "a pair over other evidence is known by its empty digest"


async def test_a_generator_of_rubrics_has_its_rubric_drafted_anew_and_the_report_held_to_it(house: WholeProduct) -> None:
    house.model = Judge()
    canary = await begin_canary(house, ModelRole.RUBRIC)
    async with house.start_worker(others=[OtherJudge(name=CANDIDATE)], prompts=PromptLibrary.load()):
        plain, run_id = await finish_run(house), await finish_run(house, rubric=True)
        [made] = await compare_again(house, canary)
        await house.wait_for(made, RunStatus.COMPLETED)
    assert plain != run_id
    drafted = [await rubrics.get(house.database, each) for each in (run_id, made)]
    assert [stored and stored.rubric.model for stored in drafted] == [CANDIDATE, STABLE]
    assert await house.database.fetchval("SELECT scorecard IS NOT NULL FROM run_rubrics WHERE run_id = $1", made)
    assert await list_stages(house, made) == WRITING


async def test_a_candidate_for_several_roles_is_compared_in_all_of_them(house: WholeProduct) -> None:
    canary = await begin_canary(house, also=(ModelRole.SEARCHER,))
    async with house.start_worker(others=[OtherJudge(name=CANDIDATE)]):
        run_id = await finish_run(house)
        [made] = await compare_again(house, canary)
        shown = await show(house, made)
    assert names_of(shown, ModelRole.WRITER) == names_of(shown, ModelRole.SEARCHER) == (CANDIDATE, STABLE)
    assert await list_stages(house, made) == await list_stages(house, run_id) - {"plan"}


async def test_only_who_agreed_is_asked_and_only_while_there_is_money(house: WholeProduct) -> None:
    canary = await begin_canary(house, agreed=False)
    async with house.start_worker(others=[OtherJudge(name=CANDIDATE)]):
        await finish_run(house)
        assert await compare_again(house, canary) == []
        await house.database.execute("INSERT INTO organisation_consents (organisation_id) VALUES ($1)", LOCAL_ORGANISATION)
        person = "INSERT INTO person_consents (organisation_id, user_id) VALUES ($1, $2)"
        await house.database.execute(person, LOCAL_ORGANISATION, LOCAL_USER)
        assert await compare_again(house, canary) == [], "what was asked before stays out"
        await finish_run(house)
        [made] = await compare_again(house, canary)
        await house.wait_for(made, RunStatus.COMPLETED)
        await house.database.execute("UPDATE ledgers SET cost_microusd = 2000000 WHERE run_id = $1", made)
        assert await trials.get_spent_usd(house.database, canary) == 2.0
        await finish_run(house)
        assert await compare_again(house, canary, most_usd=2.0) == [made]


async def test_a_canary_that_ended_asks_for_nothing(house: WholeProduct) -> None:
    canary = await begin_canary(house)
    async with house.start_worker(others=[OtherJudge(name=CANDIDATE)]):
        await finish_run(house)
        await house.database.execute("UPDATE canaries SET state = 'stopped', ended_at = now()")
        assert await compare_again(house, canary) == []
