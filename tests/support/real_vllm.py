"""A real vLLM before a tiny policy, for tests: where `VLLM_PYTHON` names the Python of an environment that has vLLM.

vLLM wants an environment of its own; docs/training.md says how to make one.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from infra.local.ports import find_free_port

PYTHON = os.environ.get("VLLM_PYTHON", "")
# Small enough for a laptop without a graphics card; adapters may come while it serves.
SETTINGS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
}
FLAGS = ("--dtype", "float32", "--enable-lora", "--max-lora-rank", "64", "--logprobs-mode", "processed_logprobs")


@contextmanager
def start_vllm(weights: Path, name: str, log: Path, port: int = 0) -> Iterator[str]:
    """Serve a folder of weights under a name. Yield the base address once the server answers."""
    port = port or find_free_port()
    command = [PYTHON, "-m", "vllm.entrypoints.openai.api_server", "--model", str(weights), "--served-model-name", name]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port), *FLAGS],
            env=os.environ | SETTINGS,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_ready(server, f"http://127.0.0.1:{port}/health", log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            server.wait()


def _wait_until_ready(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    while server.poll() is None:
        try:
            with urlopen(address):
                return
        except (URLError, ConnectionError):
            time.sleep(1)
    raise RuntimeError(f"vLLM ended while it started:\n{log.read_text(errors='replace')[-3000:]}")
