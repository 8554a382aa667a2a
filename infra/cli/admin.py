"""`rubrica admin`: what the operator of a deployment does by hand."""

from typing import Annotated

import typer

from infra.cli.execute import execute

app = typer.Typer(help="Set a deployment up.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def bootstrap(
    organisation: Annotated[str, typer.Option(help="What the organisation is called.")],
    email: Annotated[str, typer.Option(help="Its owner's e-mail address.")],
    password: Annotated[bool, typer.Option("--password", help="Ask for a password to sign in with (or read a line).")] = False,
) -> None:
    """Make an organisation with its owner and an API key, which is printed once."""
    from infra.cli import admin_commands

    execute(lambda settings: admin_commands.bootstrap(settings, organisation, email, password))


@app.command("reset-password")
def reset_password(email: Annotated[str, typer.Option(help="The e-mail address of the account.")]) -> None:
    """Set a person's password, which is asked for (or read from a line). Their sessions, keys and open invitations end."""
    from infra.cli import admin_commands

    execute(lambda settings: admin_commands.reset_password(settings, email))


@app.command("verify-address")
def verify_address(email: Annotated[str, typer.Option(help="The e-mail address of the account.")]) -> None:
    """Vouch that an e-mail address is its account's person's, where no mail can show it."""
    from infra.cli import admin_commands

    execute(lambda settings: admin_commands.verify_address(settings, email))
