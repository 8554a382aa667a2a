import asyncpg
import pytest

from tests.app.preferences.consenting_readers import Readers, make_readers
from tests.app.served_api import ApiClient


@pytest.fixture
async def readers(pool: asyncpg.Pool, api: ApiClient) -> Readers:
    return await make_readers(pool, api)
