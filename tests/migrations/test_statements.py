"""Every statement of `app` is one that the migrated database takes: what it names is there, with types that go together."""

import pkgutil
import re
from collections.abc import Iterator, Mapping
from importlib import import_module

import asyncpg

import app

STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s")
# A template is a statement once something is put into it; what others begin with ends with a space.
PLACE = re.compile(r"\{\w+\}")
# What `make setup` leaves out: a module that needs it is read where it is installed.
OPTIONAL = {"obstore"}


def attributes(module: str) -> dict[str, object]:
    try:
        return vars(import_module(module))
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        return {}


def statements() -> Iterator[tuple[str, str]]:
    modules = [found.name for found in pkgutil.walk_packages(app.__path__, f"{app.__name__}.")]
    for module in (name for name in modules if not name.endswith("__main__")):
        for name, value in attributes(module).items():
            texts = value if isinstance(value, Mapping) else {"": value}
            for key, text in texts.items():
                if isinstance(text, str) and STATEMENT.match(text) and not text.endswith(" ") and not PLACE.search(text):
                    yield f"{module}.{name} {key}".strip(), text


async def test_the_database_takes_every_statement(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    refused, seen = {}, 0
    for name, text in statements():
        try:
            await connection.prepare(text)
        except asyncpg.PostgresError as error:
            refused[name] = str(error)
        seen += 1
    await connection.close()
    assert seen > 200
    assert refused == {}
