"""Paths of the API, made from parts. No part can lead to another route, whoever named it."""

import re

from rubrica_client.errors import NotFound

Part = str | int
# The form of all ids of the API, and of the words of its paths: no letter that is quoted, and no dot.
FORM = re.compile(r"[A-Za-z0-9_-]{1,128}")


def join_path(parts: tuple[Part, ...]) -> str:
    """Return the path of these parts: `("v1", "runs", run_id)` is `/v1/runs/` and the id.

    Raises:
        NotFound: a part has another form than ids, so it is the id of nothing.
    """
    texts = [str(part) for part in parts]
    for text in texts:
        if not FORM.fullmatch(text):
            raise NotFound("Not found", f"{text[:100]!r} is no id: ids have only letters, digits, - and _, at most 128", 404)
    return "/" + "/".join(texts)
