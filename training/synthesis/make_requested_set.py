"""Making the set that a person asked for: open what it needs, make it, close everything."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from app.settings import Settings
from training.decontamination.public_sets import find_public_sets, locate_benchmarks, read_public_sets
from training.evaluation.harness.models import ModelFiles, codec_of, open_models
from training.evaluation.harness.starting import PACKAGES
from training.synthesis.catalogue import load_kind
from training.synthesis.input_digests import digest_inputs
from training.synthesis.mined_consents import find_consent_moment
from training.synthesis.mined_queries import drop_options, find_mined, mix_with_mined
from training.synthesis.named_models import OF_SETTINGS, NamedModels, name_generator, open_named
from training.synthesis.public_runs import refuse_public_runs
from training.synthesis.set_request import SetRequest
from training.synthesis.source_corpus import open_corpora
from training.synthesis.training_set.folder import SetFolder
from training.synthesis.training_set.make_set import make_set
from training.synthesis.training_set.manifest import SetOrigin, TrainingSetManifest
from training.synthesis.training_set.outcome import WorkedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from training.synthesis.workshop import GENERATOR, VERIFIER, WRITER, Workshop
from workflows.code_digest import digest_code
from workflows.prompts.library import PromptLibrary


async def make_requested_set(
    settings: Settings, request: SetRequest, told: Callable[[WorkedCandidate], None], named: NamedModels = OF_SETTINGS
) -> TrainingSetManifest:
    """Make a set, or go on where the same command was cut off. `named` are models in place of those that the settings name.

    Raises:
        InvalidInput: there is no such kind, or a file or an option cannot be used.
        SetupError: a collection or a needed model is missing.
        Conflict: the folder holds another set, or another process works in it.
        ModelUnavailable, ModelUnusable: the model is away; the same command goes on later.
    """
    kind = load_kind(request.kind)
    own = replace(request, options=drop_options(request.options))
    kind.require_known(own.options)
    refuse_public_runs(request)
    kept_out = request.against or find_public_sets(locate_benchmarks(settings))
    public, against = read_public_sets(kept_out)
    digests = digest_inputs(request, kept_out)
    files = ModelFiles(request.model_file, request.verifier_file, request.threads)
    with open_corpora(settings, request.corpora) as corpora:
        async with (
            open_models(settings, files) as usual,
            open_named(named.policy) as policy,
            open_named(named.generator or name_generator(own.options)) as generator,
        ):
            models = replace(usual, system=policy or usual.system)
            begun = SetFolder(request.out).read_origin()
            today = begun.today if begun is not None else datetime.now(UTC).date()
            workshop = Workshop(own, corpora, models, PromptLibrary.load(), codec_of(settings), today, generator)
            recipe = kind.open_recipe(workshop)
            candidates = islice(recipe.candidates, request.candidates)
            recipe = mix_with_mined(replace(recipe, candidates=candidates), request)
            consents_at = find_consent_moment(find_mined(request), recipe.consents_at)
            origin = _describe_origin(request, workshop, recipe, against, digests, consents_at)
            return await make_set(recipe, origin, request.out, public, request.at_once, told)


def _describe_origin(
    request: SetRequest,
    workshop: Workshop,
    recipe: SetRecipe[Any],
    against: dict[str, int],
    digests: dict[str, str],
    consents_at: datetime | None,
) -> SetOrigin:
    models = workshop.models
    roles = {WRITER: models.system, VERIFIER: models.judge, GENERATOR: workshop.generator}
    return SetOrigin(
        kind=request.kind,
        wanted=request.rows,
        seed=request.seed,
        settings={**request.options, "inputs": [path.name for path in request.inputs]},
        most_candidates=request.candidates,
        files=digests,
        corpora={corpus.name: corpus.generation for corpus in workshop.corpora},
        models={role: served.used for role, served in roles.items() if served is not None},
        prompts=dict(workshop.prompts.digests),
        base=dict(recipe.base),
        notation=recipe.notation,
        against=against,
        code=digest_code(PACKAGES),
        today=workshop.today,
        consents_at=consents_at,
    )
