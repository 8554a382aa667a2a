"""Steps as Jobs of Kubernetes: the port's promises, kept by its API over a socket with real processes as pods."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.domain.errors import SetupError
from tests.support.kubernetes_stub import NAMESPACE, JobsStub, serve_jobs, write_token
from workflows.durable.retraining import keeper
from workflows.durable.retraining.interruption import ServerAway
from workflows.durable.retraining.kubernetes_jobs import Cluster, KubernetesJobs, read_template
from workflows.durable.retraining.processes import DATABASE_SETTINGS

TEMPLATE: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "step", "labels": {"team": "ml"}},
    "spec": {
        "backoffLimit": 6,
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "step",
                        "image": "rubrica-train",
                        "resources": {"limits": {"nvidia.com/gpu": 1}},
                        "env": [
                            {"name": "HF_HUB_OFFLINE", "value": "1"},
                            {"name": DATABASE_SETTINGS[0], "value": "postgresql://x"},
                        ],
                    }
                ]
            }
        },
    },
}
SLEEP = "import time; time.sleep(600)"
PRINT_SETTINGS = f"import os; print([name in os.environ for name in ('HF_HUB_OFFLINE', '{DATABASE_SETTINGS[0]}')])"


@pytest.fixture
async def cluster() -> AsyncIterator[JobsStub]:
    async with serve_jobs() as stub:
        yield stub


def open_jobs(stub: JobsStub, folder: Path) -> KubernetesJobs:
    return KubernetesJobs(Cluster(stub.address, NAMESPACE, write_token(folder), None), TEMPLATE)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def wait_for_end(jobs: KubernetesJobs, folder: Path) -> int | None:
    while (look := await jobs.look(folder)).alive:
        await asyncio.sleep(0.05)
    return look.code


@pytest.mark.parametrize("code", [0, 4])
async def test_a_step_runs_in_a_job_of_the_template_and_leaves_its_code_and_output(
    cluster: JobsStub, tmp_path: Path, code: int
) -> None:
    jobs = open_jobs(cluster, tmp_path)
    await jobs.start(tmp_path, python(f"print('trained'); raise SystemExit({code})"), {})
    (job,) = cluster.jobs.values()
    assert await wait_for_end(jobs, tmp_path) == code
    assert (tmp_path / keeper.OUTPUT).read_text() == "trained\n"
    pod = job["spec"]["template"]["spec"]
    assert (job["spec"]["backoffLimit"], pod["restartPolicy"]) == (0, "Never")
    assert pod["containers"][0]["resources"] == {"limits": {"nvidia.com/gpu": 1}}
    assert job["metadata"]["labels"] == {"team": "ml"}


@pytest.mark.parametrize(("environment", "given"), [({}, "[True, False]"), ({DATABASE_SETTINGS[0]: "y"}, "[True, True]")])
async def test_only_a_step_with_the_database_in_its_environment_gets_the_template_s_way_to_it(
    cluster: JobsStub, tmp_path: Path, environment: dict[str, str], given: str
) -> None:
    jobs = open_jobs(cluster, tmp_path)
    await jobs.start(tmp_path, python(PRINT_SETTINGS), environment)
    assert await wait_for_end(jobs, tmp_path) == 0
    assert (tmp_path / keeper.OUTPUT).read_text() == f"{given}\n"


async def test_a_job_that_goes_on_stays_the_only_one_for_every_worker(cluster: JobsStub, tmp_path: Path) -> None:
    first, second = open_jobs(cluster, tmp_path), open_jobs(cluster, tmp_path)
    await asyncio.gather(*(jobs.start(tmp_path, python(SLEEP), {}) for jobs in (first, second)))
    assert len(cluster.pods) == 1
    assert (await second.look(tmp_path)).alive


async def test_a_pod_without_a_machine_goes_on(cluster: JobsStub, tmp_path: Path) -> None:
    cluster.waiting, jobs = True, open_jobs(cluster, tmp_path)
    await jobs.start(tmp_path, python(SLEEP), {})
    assert (await jobs.look(tmp_path)).alive
    await jobs.stop(tmp_path)
    assert await wait_for_end(jobs, tmp_path) is None


async def test_a_stopped_pod_saves_what_it_has_before_it_ends(cluster: JobsStub, tmp_path: Path) -> None:
    jobs = open_jobs(cluster, tmp_path)
    saves = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('saved', flush=True), sys.exit(0)))\n"
        "print('began', flush=True)\n"
        "time.sleep(600)"
    )
    await jobs.start(tmp_path, python(saves), {})
    while not (tmp_path / keeper.OUTPUT).exists() or "began" not in (tmp_path / keeper.OUTPUT).read_text():
        await asyncio.sleep(0.05)
    await jobs.stop(tmp_path)
    assert await wait_for_end(jobs, tmp_path) == 0
    assert (tmp_path / keeper.OUTPUT).read_text() == "began\nsaved\n"
    assert cluster.jobs == {}


async def test_a_lost_machine_is_a_kill_and_the_step_begins_anew_in_a_new_job(cluster: JobsStub, tmp_path: Path) -> None:
    jobs = open_jobs(cluster, tmp_path)
    await jobs.start(tmp_path, python(SLEEP), {})
    while not (tmp_path / keeper.OUTPUT).exists():
        await asyncio.sleep(0.05)
    cluster.kill_pods()
    assert await wait_for_end(jobs, tmp_path) is None
    await jobs.start(tmp_path, python("print('again')"), {})
    assert await wait_for_end(jobs, tmp_path) == 0
    assert (tmp_path / keeper.OUTPUT).read_text() == "again\n"


async def test_an_api_server_that_is_away_is_waited_for(cluster: JobsStub, tmp_path: Path) -> None:
    jobs = open_jobs(cluster, tmp_path)
    cluster.refusal = (503, "etcd is electing")
    with pytest.raises(ServerAway, match="answers 503"):
        await jobs.look(tmp_path)
    gone = KubernetesJobs(Cluster("http://127.0.0.1:9", NAMESPACE, write_token(tmp_path), None), TEMPLATE)
    with pytest.raises(ServerAway, match="does not answer"):
        await gone.look(tmp_path)


async def test_a_refusal_says_what_kubernetes_says(cluster: JobsStub, tmp_path: Path) -> None:
    cluster.refusal = (403, 'jobs.batch is forbidden: User "worker" cannot create resource "jobs"')
    with pytest.raises(SetupError, match=r"refuses a step's Job \(403\); jobs.batch is forbidden"):
        await open_jobs(cluster, tmp_path).start(tmp_path, python(SLEEP), {})


@pytest.mark.parametrize("text", ["kind: Job", "[]", '{"spec": {"template": {"spec": {"containers": []}}}}'])
def test_a_template_that_is_no_job_of_one_container_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "job.json"
    path.write_text(text)
    with pytest.raises(SetupError, match=r"job\.json is no Job of Kubernetes with one container, as JSON"):
        read_template(path)
    path.write_text(json.dumps(TEMPLATE))
    assert read_template(path) == TEMPLATE


def test_a_worker_outside_a_cluster_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(SetupError, match="leave it out to train on this machine"):
        Cluster.of_this_pod()
