"""The part of Kubernetes' API that Jobs use, over a socket. The pod of a Job is a process of this machine."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

NAMESPACE, TOKEN = "trainers", "the token of a service account"


@dataclass
class JobsStub:
    """Jobs by name, their pods, and what was asked. `refusal` answers everything; `waiting` leaves pods without a machine."""

    address: str = ""
    refusal: tuple[int, str] | None = None
    waiting: bool = False
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    pods: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one request."""
        self.asked.append(request.method)
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return _tell(401, {"message": "Unauthorized"})
        if self.refusal is not None:
            return _tell(self.refusal[0], {"kind": "Status", "message": self.refusal[1]})
        if request.method == "POST":
            return await self._create(await request.json())
        name = request.match_info["name"]
        if name not in self.jobs:
            return _tell(404, {"message": f'jobs.batch "{name}" not found'})
        if request.method == "DELETE":
            await self._delete(name, await request.json())
        return _tell(200, self.jobs[name])

    async def _create(self, job: dict[str, Any]) -> web.Response:
        name = job["metadata"]["name"]
        if name in self.jobs:
            return _tell(409, {"message": f'jobs.batch "{name}" already exists'})
        self.jobs[name] = job | {"status": {}}
        if not self.waiting:
            await self._schedule(name)
        return _tell(201, self.jobs[name])

    async def _schedule(self, name: str) -> None:
        (container,) = self.jobs[name]["spec"]["template"]["spec"]["containers"]
        environment = {each["name"]: each["value"] for each in container["env"]} | {"PYTHONPATH": os.pathsep.join(sys.path)}
        command = [*container["command"], *container["args"]]
        self.pods[name] = await asyncio.create_subprocess_exec(*command, env=environment, start_new_session=True)
        asyncio.create_task(self._await_pod(name)).add_done_callback(lambda ended: ended.result())

    async def _await_pod(self, name: str) -> None:
        code = await self.pods[name].wait()
        if "deletionTimestamp" in self.jobs[name]["metadata"]:
            del self.jobs[name]
        else:
            self.jobs[name]["status"] = {"conditions": [{"type": "Failed" if code else "Complete", "status": "True"}]}

    async def _delete(self, name: str, options: dict[str, Any]) -> None:
        assert options["propagationPolicy"] == "Foreground"
        job = self.jobs[name]
        job["metadata"]["deletionTimestamp"] = "2026-11-02T00:00:00Z"
        if name in self.pods and self.pods[name].returncode is None:
            self.pods[name].terminate()
        else:
            asyncio.get_running_loop().call_soon(self.jobs.pop, name)

    def kill_pods(self) -> None:
        """Kill every pod with all that it runs, as a machine that is lost."""
        for pod in self.pods.values():
            if pod.returncode is None:
                os.killpg(pod.pid, signal.SIGKILL)


@asynccontextmanager
async def serve_jobs() -> AsyncIterator[JobsStub]:
    """Serve until the block ends; then no pod is left."""
    stub, app = JobsStub(), web.Application()
    path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
    app.router.add_post(path, stub.answer)
    app.router.add_route("*", path + "/{name}", stub.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    stub.address = site.name
    try:
        yield stub
    finally:
        stub.kill_pods()
        await runner.cleanup()


def _tell(status: int, said: dict[str, Any]) -> web.Response:
    return web.json_response(text=json.dumps(said), status=status)


def write_token(folder: Path) -> Path:
    """Write the token of the service account."""
    path = folder / "token"
    path.write_text(TOKEN + "\n")
    return path
