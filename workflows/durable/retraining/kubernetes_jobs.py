"""The processes of steps as Jobs of Kubernetes: one Job a folder, whose pod runs the keeper.

Workers and pods mount the folder of cycles at the same path, so the keeper leaves there what it leaves on one machine: what the
process printed, and its exit code. What the API server says of a Job is only whether it goes on.
"""

import asyncio
import hashlib
import json
import os
import ssl
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aiohttp

from app.domain.errors import SetupError
from workflows.durable.retraining import keeper
from workflows.durable.retraining.interruption import LOOK_EVERY, ServerAway
from workflows.durable.retraining.processes import DATABASE_SETTINGS, ProcessLook, read_exit_code

KEEPER = "workflows.durable.retraining.keeper"
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SECONDS = 30.0
# A pod's process saves what it has after it was asked to stop; then the keeper writes its exit code.
STOP_SECONDS = int(keeper.GRACE_SECONDS) + 30
OVER = frozenset({"Complete", "Failed"})
SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the API server is, who asks it, and in which namespace. The token is read anew each time: the cluster renews it."""

    address: str
    namespace: str
    token: Path
    authority: Path | None

    @classmethod
    def of_this_pod(cls) -> "Cluster":
        """Return the cluster in whose pod this worker runs.

        Raises:
            SetupError: it runs in none, or without the token of a service account.
        """
        host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        if host is None or not (ACCOUNT / "token").exists():
            raise SetupError(
                "RUBRICA_LOOP_JOB needs a worker in a pod with a service account; leave it out to train on this machine"
            )
        authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return cls(f"https://{authority}", (ACCOUNT / "namespace").read_text().strip(), ACCOUNT / "token", ACCOUNT / "ca.crt")

    @property
    def jobs(self) -> str:
        """The address of the namespace's Jobs."""
        return f"{self.address}/apis/batch/v1/namespaces/{self.namespace}/jobs"


def read_template(path: Path) -> Mapping[str, Any]:
    """Read a Job, as `kubectl ... -o json` writes it, that says on what image, volumes and devices a step runs.

    Raises:
        SetupError: it is no Job of one container.
    """
    try:
        template = json.loads(path.read_bytes())
        (_,) = template["spec"]["template"]["spec"]["containers"]
    except (ValueError, KeyError, TypeError) as error:
        raise SetupError(f"{path} is no Job of Kubernetes with one container, as JSON: {error}") from error
    return dict(template)


class KubernetesJobs:
    """Jobs as `StepProcesses`. A Job outlives the worker that made it, and any worker finds it by its folder's name."""

    def __init__(self, cluster: Cluster, template: Mapping[str, Any]) -> None:
        self._cluster = cluster
        self._template = template
        self._tls = ssl.create_default_context(cafile=cluster.authority) if cluster.authority else None

    async def start(self, folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Make the folder's Job. One that is over makes room for it; one that goes on stays the only one.

        Raises:
            SetupError: the service account may not make Jobs, or the template is refused.
            ServerAway: the API server does not answer.
        """
        (folder / keeper.WATCHED).touch()
        (folder / keeper.EXIT).unlink(missing_ok=True)
        job = self._describe(folder, command, environment)
        while (await self._ask("POST", self._cluster.jobs, job)) is None:
            if (await self.look(folder)).alive:
                return
            await self.stop(folder)
            await asyncio.sleep(LOOK_EVERY.total_seconds())

    async def look(self, folder: Path) -> ProcessLook:
        """Return whether the folder's Job goes on, also where its pod still waits for a machine, else the keeper's exit code."""
        (folder / keeper.WATCHED).touch()
        job = await self._ask("GET", self._address_of(folder))
        return ProcessLook(alive=True) if job is not None and not _is_over(job) else ProcessLook(False, read_exit_code(folder))

    async def stop(self, folder: Path) -> None:
        """Delete the Job, once its pod has ended: the pod is asked to stop, and saves what it has."""
        await self._ask("DELETE", self._address_of(folder), {"kind": "DeleteOptions", "propagationPolicy": "Foreground"})

    def _address_of(self, folder: Path) -> str:
        return f"{self._cluster.jobs}/{_name_of(folder)}"

    def _describe(self, folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
        """Return the template with the step's command. The template may name another Python as its container's command.

        A step whose environment has no way to the database gets none from the template either.
        """
        job = deepcopy(dict(self._template))
        job["metadata"] = {**job.get("metadata", {}), "name": _name_of(folder)}
        job["spec"] |= {"backoffLimit": 0}
        pod = job["spec"]["template"]["spec"]
        pod |= {"restartPolicy": "Never", "terminationGracePeriodSeconds": STOP_SECONDS}
        (container,) = pod["containers"]
        python, *arguments = command
        program = container.get("command") or [python]
        container |= {
            "command": program,
            "args": ["-m", KEEPER, str(folder.resolve()), "--", *program, *arguments],
            "env": [
                each for each in container.get("env", ()) if each["name"] not in DATABASE_SETTINGS or each["name"] in environment
            ],
        }
        return job

    async def _ask(self, method: str, address: str, body: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """Ask the API server. None: there is no such Job, or there is one of this name already."""
        headers = {"Authorization": f"Bearer {self._cluster.token.read_text().strip()}"}
        try:
            async with (
                aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(SECONDS)) as session,
                session.request(method, address, json=body, ssl=self._tls or True) as answer,
            ):
                said = await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ServerAway(f"the API server of Kubernetes does not answer: {error}") from error
        if answer.status in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            return None
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            raise ServerAway(f"the API server of Kubernetes answers {answer.status}")
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise SetupError(f"Kubernetes refuses a step's Job ({answer.status}); {_read_reason(said)}")
        return dict(json.loads(said))


def _name_of(folder: Path) -> str:
    return f"rubrica-{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:32]}"


def _is_over(job: Mapping[str, Any]) -> bool:
    """Say whether a Job has ended. One that is being deleted ends with its pod, and is gone then."""
    conditions = job.get("status", {}).get("conditions") or ()
    return any(each["type"] in OVER and each["status"] == "True" for each in conditions)


def _read_reason(said: bytes) -> str:
    try:
        return str(json.loads(said)["message"])[:SHOWN_CHARS]
    except (ValueError, KeyError, TypeError):
        return said[:SHOWN_CHARS].decode(errors="replace")
