"""The models there are: each research system with each effort."""

from litestar import Controller, get
from litestar.params import FromPath

from app.api.authentication import needs
from app.api.deps import ResearchService
from app.api.openai.errors import error_responses
from app.api.openai.ids import model_named, models
from app.api.openai.objects import ModelList, ModelObject
from app.domain.accounts import Scope

# The day on which this API first offered models, in Unix time: they have no other birthday.
SINCE = 1_795_219_200


class ModelsController(Controller):
    """What may be named as `model`."""

    path = "/openai/v1/models"
    tags = ("openai",)
    opt = needs(Scope.RUNS_READ)

    @get(responses=error_responses())
    async def list_models(self, research: ResearchService) -> ModelList:
        """Every system that can be asked for here, with every effort."""
        return ModelList(data=[ModelObject(id=model.id, created=SINCE) for model in models(research.systems)])

    @get("/{model:str}", responses=error_responses(404))
    async def show(self, model: FromPath[str], research: ResearchService) -> ModelObject:
        """One of them. A system's name alone stands for its standard effort."""
        return ModelObject(id=model_named(model, research.systems).id, created=SINCE)
