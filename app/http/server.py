"""Run the HTTP server, with bounded patience for its clients.

At its end it closes event streams first, so that no client is cut off.
"""

import signal
import socket
from collections.abc import Sequence
from functools import partial
from types import FrameType

import uvicorn
from litestar.types import ASGIApp

from app.domain.errors import SetupError
from app.http.half_requests import HalfRequests
from app.http.patient_protocol import Patience, PatientProtocol
from app.http.services import Services
from app.open_files import read_open_files

GRACE_SECONDS = 5
BACKLOG = 2_048


class Server(uvicorn.Server):
    """Uvicorn, which ends open event streams before it waits for the rest. `proxies` may say for whom they ask.

    By default clients may take three quarters of the files that this process may have open: the rest is for the database, the
    index, uploads and exports.
    """

    def __init__(self, app: ASGIApp, services: Services, proxies: Sequence[str] = (), patience: Patience | None = None) -> None:
        patience = patience or Patience(connections=read_open_files() * 3 // 4)
        config = uvicorn.Config(
            app,
            http=partial(PatientProtocol, half=HalfRequests(patience.of_sender), patience=patience),  # type: ignore[arg-type]
            ws="none",
            forwarded_allow_ips=list(proxies),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        super().__init__(config)
        self._services = services

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ask the server to end; a second Ctrl-C forces it. Uvicorn would raise the signal again, which skips our own closing."""
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True

    async def shutdown(self, sockets: Sequence[socket.socket] | None = None) -> None:
        """Let watchers come back later, then shut down."""
        self._services.live.stop()
        await super().shutdown(list(sockets or ()))


def bind(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 takes a free one.

    Raises:
        SetupError: the port is taken, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise SetupError(
            f"the API cannot listen on {host}:{port} ({error.strerror}); end what uses it, or choose another port with "
            "--port or RUBRICA_API_PORT"
        ) from error
