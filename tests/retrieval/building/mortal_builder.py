"""A builder process for tests that kill it: the real build with an encoder that needs no weights and takes its time.

python mortal_builder.py HOME COLLECTION
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from retrieval.building.builder import run_build
from retrieval.encoding.encoder import Vectors
from retrieval.store.catalogue import BuildPhase
from retrieval.store.home import open_retrieval_home
from tests.retrieval.word_encoder import WordEncoder

SECONDS_A_PASSAGE = 0.0005


class SlowEncoder(WordEncoder):
    """An encoder that takes a while, as a real one does."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        time.sleep(SECONDS_A_PASSAGE * len(texts))
        return super().encode_passages(texts)


def main() -> int | str:
    """Begin or continue the collection's build; return 0 when it is done, else the reason."""
    shelves = open_retrieval_home(Path(sys.argv[1]))
    build = run_build(shelves, sys.argv[2], False, SlowEncoder, lambda build: print(build.phase, build.done, flush=True))
    return 0 if build.phase is BuildPhase.DONE else f"{build.phase}: {build.detail}"


if __name__ == "__main__":
    sys.exit(main())
