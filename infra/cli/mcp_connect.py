"""`rubrica mcp connect`: a person signs in to an MCP server, and workers use the account."""

from app.domain.errors import NotFound, SetupError
from app.settings import Settings
from infra.cli.execute import say
from retrieval.outside.mcp.accounts import AccountFile
from retrieval.outside.mcp.configuration import ServerConfiguration, read_servers
from retrieval.outside.mcp.connecting import connect_account
from retrieval.outside.mcp.server import McpServer


async def connect_server(settings: Settings, name: str, port: int) -> int:
    """Lead the person through the sign-in, and look whether the server answers now.

    Raises:
        RubricaError: there is no such server, no account came of it, or the server does not answer.
    """
    configuration = _find_server(settings, name)
    connected = await connect_account(configuration, AccountFile(settings.mcp_accounts, name), _show, port)
    server = McpServer(name, configuration, settings.mcp_accounts)
    try:
        offers = await server.list_offers()
    finally:
        await server.close()
    how = "connected" if connected else "asks for no sign-in"
    print(f"{name}: {how}, {len(offers)} tools. Workers that left it out have it when they start again.")
    return 0


def _find_server(settings: Settings, name: str) -> ServerConfiguration:
    if settings.mcp_servers is None:
        raise SetupError("set RUBRICA_MCP_SERVERS: the file that names the servers")
    found = read_servers(settings.mcp_servers).get(name)
    if found is None:
        raise NotFound(f"{settings.mcp_servers} names no server {name!r}")
    if found.url is None or found.oauth.without_person:
        raise SetupError(f"{name} needs no person: it has {'a command' if found.url is None else 'client_credentials'}")
    return found


async def _show(address: str) -> None:
    say(f"Open this address in a browser of this machine, and sign in (Ctrl-C ends it):\n\n{address}\n")
