"""Serve the HTTP API with the settings of the environment. It listens on this machine only, unless told otherwise."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop

from app.accounts.service.policy import AccountPolicy
from app.comparisons.service.offers import offers_of
from app.disk import Disks
from app.domain.errors import SetupError
from app.domain.services import find_searchable
from app.garbage import collect_garbage_rarely, give_memory_back
from app.health_socket import answer_health_checks
from app.http import logs
from app.http.asgi import create_app
from app.http.guard import LOCAL_HOSTS
from app.http.server import Server, bind
from app.http.services import open_services
from app.models.service.serving import list_models_of_settings
from app.open_files import allow_open_files
from app.outgoing.addresses import parse_networks
from app.outgoing.model_check import ModelCheck
from app.preferences.service.pseudonyms import KEY_FILE
from app.runs.service.runs import ALL_SYSTEMS, SYSTEMS_WITHOUT_MODEL
from app.settings import Settings, read_settings
from app.webhooks.service.delivery import DeliveryPolicy

HOST = "127.0.0.1"
PORT = 8321


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped. Return 2 when something must be set up first; the message says what."""
    options = _make_parser().parse_args(arguments)
    logs.configure()
    allow_open_files()
    try:
        names = frozenset(options.allow_host)
        uvloop.run(serve(read_settings(os.environ), options.host, options.port, names, options.health_socket))
    except SetupError as error:
        print(f"the API cannot start: {error}", file=sys.stderr)
        return 2
    return 0


async def serve(
    settings: Settings,
    host: str = HOST,
    port: int | None = None,
    names: frozenset[str] = frozenset(),
    health_socket: Path | None = None,
) -> None:
    """Serve on `host`, answering to the local names, those of the settings, `host` and `names`.

    At `health_socket` it answers as long as it lives, also when clients have taken every connection.

    Raises:
        SetupError: a service that the API needs is not named, or cannot be used as it is.
    """
    if settings.database_url is None or settings.worker_database_url is None or settings.temporal_address is None:
        needed = "RUBRICA_DATABASE_URL, RUBRICA_WORKER_DATABASE_URL and RUBRICA_TEMPORAL_ADDRESS"
        raise SetupError(f"set {needed}, or use `rubrica up`, which starts both servers")
    # Imported here: whoever builds the application with another gateway needs no Temporal.
    from app.models.service.temporal_gateway import TemporalCycles
    from app.runs.service.temporal_gateway import TemporalGateway
    from app.schedules.service.temporal_gateway import TemporalSchedules

    temporal = settings.temporal_address
    with bind(host, settings.api_port or PORT if port is None else port) as listening:
        opened = open_services(
            settings.database_url.get_secret_value(),
            settings.worker_database_url.get_secret_value(),
            TemporalGateway(temporal),
            services_on=settings.services,
            searchable=find_searchable(settings.services, papers_here=bool(settings.scientific_collections)),
            retrieval_url=settings.retrieval_url,
            systems=ALL_SYSTEMS if settings.llm_base_url else SYSTEMS_WITHOUT_MODEL,
            model=settings.default_model,
            webhook_policy=DeliveryPolicy(
                parse_networks(*settings.webhook_networks),
                proxy=settings.page_proxy.get_secret_value() if settings.page_proxy else None,
            ),
            documents=settings.documents,
            timing=TemporalSchedules(temporal),
            offers=offers_of(settings),
            accounts_policy=AccountPolicy.of(settings),
            model_check=ModelCheck.of(settings),
            disks=Disks({"home": settings.home, "documents": settings.documents}),
            serving=list_models_of_settings(settings),
            operator=settings.operator,
            key_file=settings.home / KEY_FILE,
            cycle_gateway=TemporalCycles(temporal),
            loop=settings.loop,
        )
        answered = LOCAL_HOSTS | settings.host_names | names | {f"[{host}]" if ":" in host else host}
        async with opened as services:
            app = create_app(services, answered, settings.cors_origins)
            collect_garbage_rarely()
            async with answer_health_checks(health_socket), give_memory_back():
                await Server(app, services, settings.trusted_proxies).serve(sockets=[listening])


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m app.http", description=__doc__)
    parser.add_argument("--host", default=HOST, help=f"address to listen on (default: {HOST}, only this machine)")
    parser.add_argument("--port", type=int, help=f"0: any free one (default: RUBRICA_API_PORT or {PORT})")
    parser.add_argument("--allow-host", action="append", default=[], help="a further name this server is addressed by")
    parser.add_argument("--health-socket", type=Path, help="a Unix socket at which to answer health checks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
