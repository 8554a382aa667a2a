"""Make the parts of the local stack: each with its command, environment and address, from settings and home."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from pydantic import SecretStr

from app.database.role_names import API_ROLE, WORKER_ROLE
from app.domain.errors import SetupError
from app.settings import PREFIX, Settings
from infra.local.home import Home
from infra.local.model import ModelAtHand, point_to_model, serving_options
from infra.local.ports import LOOPBACK, PortBook, PortClaims
from infra.local.postgres import LocalPostgres
from infra.local.service import Endpoint, LocalService, gated_command
from infra.local.temporal import LocalTemporal

API_PORT = 8_321
UI_PORT = 8_322
# Runs wait for a worker that hangs; its socket is answered at once while it lives.
WORKER_SILENCE = timedelta(seconds=5)
# Limits of the GNU C library (mallopt(3)). By itself it lets the first large block raise the size from which blocks are mapped
# alone, to 32 MiB, and gives every thread a heap: what many requests leave there are holes.
MEMORY_LIMITS = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "262144", "MALLOC_TRIM_THRESHOLD_": "1048576"}


@dataclass
class Parts:
    """The local servers and services. A part that a setting replaces is None, and its address is the setting's.

    `model` is the model to serve; the settings then lead to its server.
    """

    settings: Settings
    home: Home
    with_ui: bool
    model: ModelAtHand | None = None
    postgres: LocalPostgres | None = field(init=False)
    temporal: LocalTemporal | None = field(init=False)
    retrieval: LocalService | None = field(init=False)
    model_server: LocalService | None = field(init=False)
    worker: LocalService = field(init=False)
    api: LocalService = field(init=False)
    ui: LocalService | None = field(init=False)

    def __post_init__(self) -> None:
        settings = self.settings
        sockets = self.home.make_socket_folder()
        claims = self._claims = PortClaims()
        self.postgres = (
            None
            if settings.database_url
            else LocalPostgres(self.home.postgres, self.home.log_of("postgres"), sockets, claims=claims)
        )
        self.temporal = (
            None if settings.temporal_address else LocalTemporal(self.home.temporal, self.home.log_of("temporal"), claims=claims)
        )
        book = PortBook(self.home.ports, _list_named_ports(settings, self.with_ui), self._claims)
        self._api_port = _choose_port(book, "api", settings.api_port, API_PORT)
        self._ui_port = _choose_port(book, "ui", settings.ui_port, UI_PORT) if self.with_ui else None
        self._socket = sockets / "retrieval.sock"
        model_port = book.choose_port("model") if self.model else None
        if self.model and model_port:
            self.settings = point_to_model(settings, self.model, model_port)
        environment = self.build_environment()
        self.retrieval = None if settings.retrieval_url else self._make_retrieval(environment)
        self.model_server = self._make_model_server(self.model, model_port, environment) if self.model and model_port else None
        self.worker = self._make_worker(environment, sockets / "worker.sock")
        self.api = self._make_api(environment, sockets / "api.sock")
        self.ui = self._make_page(environment) if self._ui_port else None

    @property
    def database_url(self) -> str:
        """The database's address for the API's role, which sees one organisation at a time."""
        return self.postgres.url_of(role=API_ROLE) if self.postgres else _reveal(self.settings.database_url)

    @property
    def worker_database_url(self) -> str:
        """The same database's address for the worker's role, which sees all organisations."""
        return self.postgres.url_of(role=WORKER_ROLE) if self.postgres else _reveal(self.settings.worker_database_url)

    @property
    def api_key(self) -> str:
        """The key that commands and the page on this machine send to the API."""
        return _reveal(self.settings.api_key) if self.settings.api_key else str(self.home.ensure_api_key())

    @property
    def temporal_address(self) -> str:
        """The address of the workflow server."""
        return self.temporal.address if self.temporal else str(self.settings.temporal_address)

    @property
    def retrieval_url(self) -> str:
        """The address of the retrieval service."""
        return self.settings.retrieval_url or f"unix:{self._socket}"

    @property
    def api_url(self) -> str:
        """The address of the HTTP API."""
        return f"http://{LOOPBACK}:{self._api_port}"

    @property
    def ui_url(self) -> str | None:
        """The address of the web page, if it is wanted."""
        return f"http://{LOOPBACK}:{self._ui_port}" if self._ui_port else None

    def build_environment(self) -> dict[str, str]:
        """Return the environment of every service: the user's settings and the addresses of the local parts."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        addresses = {
            "RUBRICA_HOME": str(self.home.root),
            "RUBRICA_DATABASE_URL": self.database_url,
            "RUBRICA_WORKER_DATABASE_URL": self.worker_database_url,
            "RUBRICA_TEMPORAL_ADDRESS": self.temporal_address,
            "RUBRICA_RETRIEVAL_URL": self.retrieval_url,
            "RUBRICA_API_URL": self.api_url,
            "RUBRICA_API_PORT": str(self._api_port),
        }
        # No service needs the owner's address or a client's key.
        hidden = ("RUBRICA_DATABASE_OWNER_URL", "RUBRICA_API_KEY")
        shared = {name: value for name, value in self.settings.to_environment().items() if name not in hidden}
        return inherited | shared | addresses | _build_python_environment()

    def give_back(self) -> None:
        """Remove the sockets' folder from the place for temporary files, and give up the ports. Call it when nothing runs."""
        self._claims.release()
        shutil.rmtree(self._socket.parent, ignore_errors=True)

    def _make_worker(self, environment: Mapping[str, str], socket: Path) -> LocalService:
        command = gated_command("workflows.durable.worker", "--health-socket", str(socket))
        log, endpoint = self.home.log_of("worker"), Endpoint(f"unix:{socket}")
        own = {**MEMORY_LIMITS, **environment}
        return LocalService("worker", command, log, own, endpoint, folder=socket.parent, silence=WORKER_SILENCE)

    def _make_api(self, environment: Mapping[str, str], socket: Path) -> LocalService:
        command = gated_command("app.http.__main__", "--health-socket", str(socket))
        log, endpoint = self.home.log_of("api"), Endpoint(self.api_url)
        # At its port, clients may have taken every connection: an API that is only full is not ended.
        pulse = Endpoint(f"unix:{socket}")
        own = {**MEMORY_LIMITS, **environment}
        return LocalService("api", command, log, own, endpoint, pulse=pulse, folder=socket.parent)

    def _make_retrieval(self, environment: Mapping[str, str]) -> LocalService:
        options = ["--socket", str(self._socket), "--home", str(self.home.root)]
        if self.settings.models_dir:
            options += ["--models-dir", str(self.settings.models_dir)]
        if self.settings.qdrant_url:
            options += ["--qdrant-url", self.settings.qdrant_url]
        if self.settings.nli_model:
            options += ["--nli-model", self.settings.nli_model]
        command = gated_command("retrieval.service.server", *options)
        log, endpoint = self.home.log_of("retrieval"), Endpoint(self.retrieval_url)
        return LocalService("retrieval", command, log, environment, endpoint, folder=self._socket.parent)

    def _make_model_server(self, model: ModelAtHand, port: int, environment: Mapping[str, str]) -> LocalService:
        command = [sys.executable, "-m", "workflows.chat_models.embedded", *serving_options(model, self.settings, port)]
        endpoint = Endpoint(f"http://{LOOPBACK}:{port}")
        return LocalService("model", command, self.home.log_of("model"), environment, endpoint, gated=False)

    def _make_page(self, environment: Mapping[str, str]) -> LocalService:
        options = {
            "server.address": LOOPBACK,
            "server.port": str(self._ui_port),
            "server.headless": "true",
            "server.fileWatcherType": "none",
            "browser.gatherUsageStats": "false",
        }
        command = [sys.executable, "-m", "ui", *(f"--{key}={value}" for key, value in options.items())]
        endpoint = Endpoint(str(self.ui_url), "/_stcore/health")
        own = {**environment, "RUBRICA_API_KEY": self.api_key}
        return LocalService("ui", command, self.home.log_of("ui"), own, endpoint, gated=False)


def _list_named_ports(settings: Settings, with_ui: bool) -> list[int]:
    """Return the ports that settings name: no part may take another one's.

    Raises:
        SetupError: one port is named for both the API and the page.
    """
    if with_ui and settings.api_port and settings.api_port == settings.ui_port:
        raise SetupError(f"RUBRICA_API_PORT and RUBRICA_UI_PORT are both {settings.api_port}; choose another for one of them")
    return [port for port in (settings.api_port, settings.ui_port) if port]


def _choose_port(book: PortBook, name: str, wanted: int | None, preferred: int) -> int:
    return book.require_port(wanted, f"RUBRICA_{name.upper()}_PORT") if wanted else book.choose_port(name, preferred)


def _reveal(secret: SecretStr | None) -> str:
    assert secret is not None
    return secret.get_secret_value()


def _find_package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def _build_python_environment() -> dict[str, str]:
    """Return the variables by which children find the packages of this process, and write logs line by line."""
    root = str(_find_package("infra").parent)
    path = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": f"{root}{os.pathsep}{path}" if path else root, "PYTHONUNBUFFERED": "1"}
