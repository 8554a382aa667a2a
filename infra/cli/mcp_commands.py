"""`rubrica mcp`: serve as an MCP server, or connect the servers of others that ask for a sign-in."""

from typing import Annotated

import typer

from infra.cli.execute import execute

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def mcp(
    context: typer.Context,
    http: Annotated[
        int | None, typer.Option(help="Serve over streamable HTTP at /mcp on this port, to all who have a key.")
    ] = None,
    host: Annotated[str, typer.Option(help="With --http: the address to listen on.")] = "127.0.0.1",
) -> None:
    """Offer search and research as an MCP server, over standard input and output or over HTTP."""
    if context.invoked_subcommand is not None:
        return
    from infra.cli.mcp_serving import serve, serve_http

    execute(serve if http is None else lambda settings: serve_http(settings, host, http))


@app.command()
def connect(
    name: Annotated[str, typer.Argument(help="A server of the file that RUBRICA_MCP_SERVERS names.")],
    port: Annotated[int, typer.Option(help="The port of this machine to which the browser is sent back; 0: a free one.")] = 0,
) -> None:
    """Sign in to an MCP server that asks for OAuth, in your browser on this machine. Workers then use the account."""
    from infra.cli.mcp_connect import connect_server

    execute(lambda settings: connect_server(settings, name, port))
