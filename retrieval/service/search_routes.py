"""The routes that agents and readers use: passages, fitting collections, spellings, documents and stored texts."""

import asyncio
from typing import Any

from aiohttp import web

from retrieval.ports import SearchFilter
from retrieval.search.library import MAX_COMPARED, MAX_RATED, Library
from retrieval.service.fitting import FittingCollections
from retrieval.service.json_http import answer_json, read_body, require_text, require_texts
from retrieval.service.owner import IndexOwner

DEFAULT_LIMIT = 10


class SearchRoutes:
    """`POST /search`, `/fitting`, `/respell`, `/compare`, `/rate`, `/read`, `/whole`, `/describe` and `GET /snapshots/{hash}`."""

    def __init__(self, owner: IndexOwner, library: Library, fitting: FittingCollections) -> None:
        self._owner = owner
        self._library = library
        self._fitting = fitting

    def list_routes(self) -> list[web.RouteDef]:
        """Return the routes with their handlers."""
        return [
            web.post("/search", self.search),
            web.post("/fitting", self.find_fitting),
            web.post("/respell", self.respell),
            web.post("/compare", self.compare),
            web.post("/rate", self.rate),
            web.post("/read", self.read),
            web.post("/whole", self.read_whole),
            web.post("/describe", self.describe),
            web.get("/snapshots/{hash}", self.snapshot),
        ]

    async def search(self, request: web.Request) -> web.Response:
        """Search: `{"query", "limit"?, filters}` -> `{"passages"}`."""
        body = await read_body(request)
        found = await self._owner.search(require_text(body, "query"), int(body.get("limit", DEFAULT_LIMIT)), _filter_of(body))
        return answer_json({"passages": [passage.model_dump(mode="json") for passage in found]})

    async def find_fitting(self, request: web.Request) -> web.Response:
        """Choose collections: `{"query", "collections", filters}` -> `{"collections"}`, those that fit, the best first."""
        body = await read_body(request)
        found = await asyncio.to_thread(self._fitting.find, require_text(body, "query"), _filter_of(body))
        return answer_json({"collections": found})

    async def respell(self, request: web.Request) -> web.Response:
        """Correct words: `{"words", filters}` -> `{"words": {written: meant}}`."""
        body = await read_body(request)
        return answer_json(
            {"words": await self._owner.respell([str(word) for word in body.get("words") or ()], _filter_of(body))}
        )

    async def compare(self, request: web.Request) -> web.Response:
        """Compare texts by meaning: `{"query", "texts"}` -> `{"cosines"}`."""
        body = await read_body(request)
        texts = require_texts(body.get("texts"), MAX_COMPARED)
        found = await self._owner.compare(require_text(body, "query"), texts)
        return answer_json({"cosines": found})

    async def rate(self, request: web.Request) -> web.Response:
        """Rate how well texts answer a question: `{"question", "texts"}` -> `{"ratings"}`."""
        body = await read_body(request)
        texts = require_texts(body.get("texts"), MAX_RATED)
        return answer_json({"ratings": await self._owner.rate(require_text(body, "question"), texts)})

    async def read(self, request: web.Request) -> web.Response:
        """Read a document: `{"url", "collections"?, "tenant"?}` -> the document, from one of `collections` where it is there."""
        body = await read_body(request)
        where = SearchFilter.model_validate({"collections": body.get("collections") or ()})
        found = await asyncio.to_thread(self._library.read, require_text(body, "url"), where.collections, body.get("tenant"))
        return answer_json(found.model_dump(mode="json"))

    async def read_whole(self, request: web.Request) -> web.Response:
        """Read collections whole: `{"most_chars", filters}` -> `{"documents"}`, null where they are longer together."""
        body = await read_body(request)
        found = await self._owner.read_whole(_filter_of(body), int(body["most_chars"]))
        return answer_json({"documents": found and [document.model_dump(mode="json") for document in found]})

    async def describe(self, request: web.Request) -> web.Response:
        """Describe collections: `{filters}` -> `{"collections"}`."""
        found = await self._owner.describe(_filter_of(await read_body(request)))
        return answer_json({"collections": [description.model_dump(mode="json") for description in found]})

    async def snapshot(self, request: web.Request) -> web.Response:
        """Answer with a stored text by its hash, on behalf of `?tenant=`."""
        name = request.match_info["hash"]
        text = await asyncio.to_thread(self._library.get_snapshot, name, request.query.get("tenant"))
        return answer_json({"snapshot": name, "text": text})


def _filter_of(body: dict[str, Any]) -> SearchFilter:
    return SearchFilter.model_validate({key: body[key] for key in SearchFilter.model_fields if body.get(key)})
