"""Routes of the models: each research system with each effort."""

from litestar import Controller, get
from litestar.params import FromPath

from app.accounts.nouns.access import AccessScope
from app.http.authentication import needs
from app.http.dependencies import RunsService
from app.openai.errors import error_responses
from app.openai.ids import find_model, models_of
from app.openai.objects import ModelList, ModelObject

# The day in Unix time on which this API first offered models.
SINCE = 1_795_219_200


class ModelsController(Controller):
    """The values of `model`."""

    path = "/openai/v1/models"
    tags = ("openai",)
    opt = needs(AccessScope.RUNS_READ)

    @get(responses=error_responses())
    async def list_models(self, runs: RunsService) -> ModelList:
        """List every available system with every effort."""
        return ModelList(data=[ModelObject(id=model.id, created=SINCE) for model in models_of(runs.systems)])

    @get("/{model:str}", responses=error_responses(404))
    async def show(self, model: FromPath[str], runs: RunsService) -> ModelObject:
        """Return one model. A system's name alone means its standard effort."""
        return ModelObject(id=find_model(model, runs.systems).id, created=SINCE)
