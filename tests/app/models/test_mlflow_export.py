"""A version in MLflow's registry: made once, found again, with tags that follow its state."""

import asyncpg
import pytest

from app.domain.errors import InvalidInput, Unavailable
from app.domain.model_versions import VersionState
from app.models.service import registry
from app.models.service.mlflow_export import export_version
from tests.app.models.fake_mlflow import serve_mlflow
from tests.app.models.trained_models import ARTIFACT, add_version


async def test_versions_are_exported_once_and_their_tags_follow(pool: asyncpg.Pool) -> None:
    first, second = await add_version(pool), await add_version(pool)
    async with serve_mlflow() as mlflow:
        for version, number in ((first, 1), (second, 2), (first, 1), (second, 2)):
            told = await export_version(mlflow.address + "/", "t0ken", await registry.describe_version(pool, version.id))
            assert told == f"rubrica-writer {number}"
        async with pool.acquire() as connection, connection.transaction():
            await registry.change_state(connection, second.id, VersionState.SERVING, "ada@example.org", "better")
        await export_version(mlflow.address, "t0ken", await registry.describe_version(pool, second.id))
        assert list(mlflow.models) == ["rubrica-writer"]
        assert [(each["version"], each["source"]) for each in mlflow.versions] == [
            ("1", f"rubrica:/{ARTIFACT}"),
            ("2", f"rubrica:/{ARTIFACT}"),
        ]
        tags = mlflow.tags_of(2)
        assert (tags["rubrica.version"], tags["rubrica.state"], tags["rubrica.rows"]) == (str(second.id), "serving", "3")
        assert mlflow.tags_of(1)["rubrica.state"] == "candidate"
        assert "State: serving" in mlflow.versions[1]["description"].replace("\\", "")
        assert mlflow.tokens == {"Bearer t0ken"}


async def test_what_mlflow_says_is_told(pool: asyncpg.Pool) -> None:
    detail = await registry.describe_version(pool, (await add_version(pool)).id)
    async with serve_mlflow() as mlflow:
        mlflow.away = True
        with pytest.raises(Unavailable, match="does not answer as it should"):
            await export_version(mlflow.address, "", detail)
        with pytest.raises((InvalidInput, Unavailable)):
            await export_version(f"{mlflow.address}/elsewhere", "", detail)
    with pytest.raises(Unavailable):
        await export_version(mlflow.address, "", detail)
