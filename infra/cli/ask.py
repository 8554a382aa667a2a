"""`rubrica ask`: one question, one report."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from app.domain.budget import Budget
from app.domain.errors import InvalidInput, ToolUnavailable
from app.domain.options import SourceKind
from app.domain.query import Effort, ResearchQuery
from app.runs.schemas import NewRun
from app.settings import Settings
from infra.cli.build_progress import explain_first_index, explain_words_only
from infra.cli.connection import Connection, open_connection
from infra.cli.documents import index_folder, name_of_folder, open_index
from infra.cli.execute import say
from infra.cli.run_summaries import describe_estimate, describe_searched
from infra.cli.watch import follow_run
from retrieval.store.catalogue import CorpusKind
from rubrica_client import ApiError, asking, models, runs
from rubrica_client.errors import Unavailable, Unreachable


@dataclass(frozen=True)
class AskedQuestion:
    """A question with its options. `documents` is a folder of the person's own files to search instead of the corpus.

    `collections` are named on the command line; `options` are further fields of the API's body.
    """

    text: str
    out: Path
    documents: Path | None = None
    effort: str | None = None
    language: str | None = None
    budget: Budget | None = None
    collections: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def to_request(self, collections: tuple[str, ...] = ()) -> models.NewRun:
        """Return the request to the API, with only the options that were given, so that the API's defaults hold for the rest.

        Raises:
            InvalidInput: the API would refuse it; so nothing is started.
        """
        named = (*self.collections, *collections) or None
        options = self.options
        if self.documents is not None and (sources := options.get("sources")) and SourceKind.COLLECTIONS not in sources:
            options = {**options, "sources": [*sources, SourceKind.COLLECTIONS]}  # the folder is searched too
        fields = {"question": self.text, "effort": self.effort, "language": self.language, "collections": named, **options}
        body: dict[str, Any] = {key: value for key, value in fields.items() if value is not None}
        if self.budget is not None:
            body["budget"] = self.budget.model_dump(exclude_none=True)
        try:
            NewRun.model_validate(body).to_query()
        except ValidationError as error:
            raise InvalidInput("; ".join(detail["msg"].removeprefix("Value error, ") for detail in error.errors())) from error
        return models.NewRun(**body)


async def ask(settings: Settings, question: AskedQuestion) -> int:
    """Research a question, write its report and return the exit code."""
    if settings.local_model is not None and question.effort is None:
        say("quick effort, for the sake of a small model; --effort says otherwise")
        question = replace(question, effort=Effort.QUICK)
    question.to_request(() if question.documents is None else (name_of_folder(question.documents),))
    begun = time.monotonic()
    async with open_connection(settings, say) as connection:
        collections = await _index_documents(connection, question)
        request = question.to_request(collections)
        await _say_estimate(connection, request, settings.local_model is not None)
        await _say_first_index(connection, collections or question.collections)
        run = await connection.api.send(runs.create(request))
        say(f"run {run.id} accepted after {time.monotonic() - begun:.1f} s")
        say(describe_searched(ResearchQuery.of_any_version(run.query.model_dump_json())))
        code = await follow_run(connection, run, question.out)
        await _say_unencoded(connection, collections or question.collections)
        return code


async def _say_first_index(connection: Connection, searched: tuple[str, ...]) -> None:
    """Say which collections are not indexed yet: the first search waits for that, which no estimate of a run knows."""
    for state in await _list_building(connection, searched):
        if not state["searchable"]:
            say(explain_first_index(state["name"], state["kind"] == CorpusKind.SOTU))


async def _say_unencoded(connection: Connection, searched: tuple[str, ...]) -> None:
    """Say which collections have no vectors yet: they are made while a stack runs, and this one stops now."""
    for state in await _list_building(connection, searched):
        if not state["dense"]:
            say(explain_words_only(state["name"], state["build"]))


async def _list_building(connection: Connection, searched: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the states of those searched collections that the stack of this command is building."""
    if connection.stack is None or connection.retrieval is None:
        return []
    try:
        async with open_index(connection) as index:
            states = await index.list_collections()
    except ToolUnavailable:  # it is starting, or stops: the run itself waits for it, or tells it
        return []
    asked = [s for s in states if s["name"] in searched or (not searched and s["kind"] == CorpusKind.SOTU)]
    return [state for state in asked if state["building"]]


async def _say_estimate(connection: Connection, request: models.NewRun, slow: bool) -> None:
    """Say what the run will take. A failure here stops nothing: the request for the run reports an API that does not answer.

    For a model that is `slow`, only what runs like it took is said: general experience is of fast ones.
    """
    try:
        estimate = await connection.api.send(asking.estimate(request))
        if (estimate.runs or not slow) and not estimate.refusal:  # a refused run is told when it is asked for
            say(describe_estimate(estimate))
    except (Unavailable, Unreachable):
        return
    except ApiError as error:
        say(f"there is no estimate: {error}")


async def _index_documents(connection: Connection, question: AskedQuestion) -> tuple[str, ...]:
    if question.documents is None:
        return ()
    return (await connection.run_while_healthy(index_folder(connection, question.documents, say)),)
