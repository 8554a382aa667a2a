"""A stand-in for a Qdrant server: the part of its REST surface that the product uses, answered by the engine in process."""

import asyncio
import itertools
import threading
from pathlib import Path
from typing import Any

import qdrant_edge as engine
from aiohttp import web

Handler = Any


class QdrantStub:
    """A server that listens on a free local port from `start` to `stop`; its shards are under `folder`."""

    def __init__(self, folder: Path) -> None:
        self.url = ""
        self._folder = folder
        self._numbers = itertools.count()
        self._shards: dict[str, engine.EdgeShard] = {}
        self._aliases: dict[str, str] = {}
        self._dense: dict[str, dict[str, int]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def start(self) -> None:
        """Serve in a thread of its own."""
        self._thread.start()
        self.url = asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result()

    def stop(self) -> None:
        """Close the port."""
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _serve(self) -> str:
        app = web.Application(client_max_size=1 << 26)
        one = "/collections/{name}"
        routes: dict[tuple[str, str], Handler] = {
            ("GET", "/collections"): lambda _: {"collections": [{"name": name} for name in self._shards]},
            ("PUT", one): self._create,
            ("GET", one): self._describe,
            ("PUT", one + "/vectors/{vector}"): self._create_vector,
            ("DELETE", one + "/vectors/{vector}"): self._delete_vector,
            ("DELETE", one): lambda r: self._shards.pop(r.match_info["name"], None) is not None,
            ("PUT", one + "/index"): self._create_index,
            ("PUT", one + "/points"): self._upsert,
            ("PUT", one + "/points/vectors"): self._set_vectors,
            ("POST", one + "/points/delete"): self._delete,
            ("POST", one + "/points"): self._retrieve,
            ("POST", one + "/points/scroll"): self._scroll,
            ("POST", one + "/points/count"): self._count,
            ("POST", one + "/points/query/batch"): self._answer_queries,
            ("POST", "/collections/aliases"): self._change_aliases,
            ("GET", "/aliases"): self._list_aliases,
        }
        for (method, path), handler in routes.items():
            app.router.add_route(method, path, _wrap_handler(handler))
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    def _find_shard(self, request: web.Request) -> engine.EdgeShard:
        name = request.match_info["name"]
        shard = self._shards.get(self._aliases.get(name, name))
        if shard is None:
            raise web.HTTPNotFound(text='{"status":{"error":"Not found: Collection"}}', content_type="application/json")
        return shard

    async def _create(self, request: web.Request) -> bool:
        body = await request.json()
        assert body["vectors"] == {}
        sparse = {name: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf) for name in body["sparse_vectors"]}
        path = self._folder / str(next(self._numbers))
        path.mkdir(parents=True)
        config = engine.EdgeConfig(sparse_vectors=sparse, wal_enabled=False)
        self._shards[request.match_info["name"]] = engine.EdgeShard.create(str(path), config)
        return True

    async def _describe(self, request: web.Request) -> dict[str, Any]:
        self._find_shard(request)
        sizes = self._dense.get(request.match_info["name"], {})
        vectors = {name: {"size": size, "distance": "Cosine"} for name, size in sizes.items()}
        config = {"params": {"vectors": vectors}, "hnsw_config": _HNSW, "optimizer_config": _OPTIMIZERS, "wal_config": _WAL}
        return {"status": "green", "optimizer_status": "ok", "segments_count": 1, "payload_schema": {}, "config": config}

    async def _create_vector(self, request: web.Request) -> dict[str, Any]:
        room = (await request.json())["dense"]
        distance = getattr(engine.Distance, room["distance"])
        vector = request.match_info["vector"]
        self._find_shard(request).update(engine.UpdateOperation.create_dense_vector(vector, room["size"], distance))
        self._dense.setdefault(request.match_info["name"], {})[vector] = room["size"]
        return _DONE

    async def _delete_vector(self, request: web.Request) -> dict[str, Any]:
        self._find_shard(request).update(engine.UpdateOperation.delete_vector_name(request.match_info["vector"]))
        del self._dense[request.match_info["name"]][request.match_info["vector"]]
        return _DONE

    async def _create_index(self, request: web.Request) -> dict[str, str]:
        body = await request.json()
        kinds = {"keyword": engine.KeywordIndexParams, "integer": engine.IntegerIndexParams}
        field = kinds[body["field_schema"]](enable_hnsw=False)
        self._find_shard(request).update(engine.UpdateOperation.create_field_index(body["field_name"], field))
        return _DONE

    async def _upsert(self, request: web.Request) -> dict[str, str]:
        points = [engine.Point(p["id"], _read_vectors(p["vector"]), p.get("payload")) for p in (await request.json())["points"]]
        self._find_shard(request).update(engine.UpdateOperation.upsert_points(points))
        return _DONE

    async def _set_vectors(self, request: web.Request) -> dict[str, str]:
        points = [engine.PointVectors(p["id"], _read_vectors(p["vector"])) for p in (await request.json())["points"]]
        self._find_shard(request).update(engine.UpdateOperation.update_vectors(points))
        return _DONE

    async def _delete(self, request: web.Request) -> dict[str, str]:
        chosen = _read_filter((await request.json())["filter"])
        self._find_shard(request).update(engine.UpdateOperation.delete_points_by_filter(chosen))
        return _DONE

    async def _scroll(self, request: web.Request) -> dict[str, Any]:
        body = await request.json()
        asked = engine.ScrollRequest(
            offset=body.get("offset"),
            limit=body["limit"],
            filter=_read_filter(body.get("filter")),
            with_payload=body["with_payload"],
        )
        records, _ = self._find_shard(request).scroll(asked)
        return {"points": [{"id": r.id, "payload": r.payload} for r in records], "next_page_offset": None}

    async def _retrieve(self, request: web.Request) -> list[dict[str, Any]]:
        body = await request.json()
        return [{"id": r.id, "payload": r.payload} for r in self._find_shard(request).retrieve(body["ids"], True, False)]

    async def _count(self, request: web.Request) -> dict[str, int]:
        body = await request.json()
        return {
            "count": self._find_shard(request).count(engine.CountRequest(filter=_read_filter(body.get("filter")), exact=True))
        }

    async def _answer_queries(self, request: web.Request) -> list[dict[str, Any]]:
        shard = self._find_shard(request)
        return [{"points": _run_search(shard, search)} for search in (await request.json())["searches"]]

    async def _change_aliases(self, request: web.Request) -> bool:
        for action in (await request.json())["actions"]:
            if "delete_alias" in action:
                del self._aliases[action["delete_alias"]["alias_name"]]
            else:
                fresh = action["create_alias"]
                self._aliases[fresh["alias_name"]] = fresh["collection_name"]
        return True

    async def _list_aliases(self, _: web.Request) -> dict[str, Any]:
        return {"aliases": [{"alias_name": alias, "collection_name": name} for alias, name in self._aliases.items()]}


_DONE = {"operation_id": 0, "status": "completed"}
_WAL = {"wal_capacity_mb": 32, "wal_segments_ahead": 0}
_HNSW = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000}
_OPTIMIZERS = {"deleted_threshold": 0.2, "vacuum_min_vector_number": 1_000, "default_segment_number": 0, "flush_interval_sec": 5}


def _wrap_handler(handler: Handler) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        result = handler(request)
        if asyncio.iscoroutine(result):
            result = await result
        return web.json_response({"result": result, "status": "ok", "time": 0.0})

    return answer


def _read_vectors(named: dict[str, Any]) -> dict[str, Any]:
    return {
        name: engine.SparseVector(vector["indices"], vector["values"]) if isinstance(vector, dict) else vector
        for name, vector in named.items()
    }


def _read_filter(body: dict[str, Any] | None) -> engine.Filter | None:
    if body is None:
        return None
    return engine.Filter(**{side: [_read_condition(c) for c in body[side]] for side in ("must", "must_not") if body.get(side)})


def _read_condition(body: dict[str, Any]) -> Any:
    if "has_vector" in body:
        return engine.HasVectorCondition(body["has_vector"])
    if "has_id" in body:
        return engine.HasIdCondition(set(body["has_id"]))
    if body.get("range"):
        return engine.FieldCondition(key=body["key"], range=engine.RangeFloat(**body["range"]))
    match = body["match"]
    chosen = engine.MatchAny(any=match["any"]) if "any" in match else engine.MatchValue(match["value"])
    return engine.FieldCondition(key=body["key"], match=chosen)


def _run_search(shard: engine.EdgeShard, body: dict[str, Any]) -> list[dict[str, Any]]:
    vector = body["query"]["nearest"] if isinstance(body["query"], dict) and "nearest" in body["query"] else body["query"]
    nearest = engine.Query.Nearest(_read_vectors({"query": vector})["query"], using=body["using"])
    only = _read_filter(body.get("filter"))
    found = shard.query(engine.QueryRequest(limit=body["limit"], query=nearest, filter=only, with_payload=body["with_payload"]))
    return [{"id": p.id, "version": 0, "score": p.score, "payload": p.payload} for p in found]
