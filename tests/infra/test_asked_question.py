"""What `rubrica ask` sends, of the options that it was given."""

from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.domain.options import SourceKind
from infra.cli.ask import AskedQuestion

WEB = {"sources": [SourceKind.WEB]}


def test_a_folder_is_searched_besides_the_sources_that_were_named() -> None:
    asked = AskedQuestion("Why?", Path(), documents=Path("notes"), options=WEB)
    sent = asked.to_request(("notes-1",)).model_dump(exclude_unset=True)
    assert (list(sent["sources"]), list(sent["collections"])) == (["web", "collections"], ["notes-1"])


def test_named_collections_that_the_sources_leave_out_are_refused() -> None:
    with pytest.raises(InvalidInput, match="leaves them out"):
        AskedQuestion("Why?", Path(), collections=("mine",), options=WEB).to_request()
