"""What is kept as JSON takes the memory that it shows."""

import tracemalloc

import orjson

from app.json_bytes import json_bytes

VALUE = {"text": "Tariffs were raised in 1890. " * 100, "words": ["protection", "revenue"] * 50}


def test_json_that_is_kept_has_no_room_to_spare() -> None:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        kept = [json_bytes({**VALUE, "n": n}) for n in range(20)]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1.2 * sum(map(len, kept))
    assert kept[3] == orjson.dumps({**VALUE, "n": 3})
