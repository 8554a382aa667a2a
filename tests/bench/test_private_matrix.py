"""What the matrix over a private collection calls a leak, and in which forms it finds words."""

import zipfile
from io import BytesIO

import pytest

from app.accounts.nouns.access import AccessScope
from app.accounts.nouns.api_key import ApiKey
from app.database.tenancy import Tenant
from bench.private_house import HousePerson
from bench.private_matrix import MatrixRequest, find_words, list_leaks, list_missing
from bench.private_run import HIDDEN, WORDS
from bench.tenancy_belongings import RUNS

TENANT = Tenant(ApiKey.new().id, ApiKey.new().id)
TAPE = MatrixRequest(f"GET {RUNS}/tape", "GET", "/v1/runs/1/tape", frozenset())
LINK = TAPE._replace(name="GET /v1/shared/{token:str}", path="/v1/shared/x")
QUOTED, SECRET = {WORDS[0]}, {HIDDEN[0]}


@pytest.mark.parametrize(
    ("name", "scopes", "request_", "found", "leaks"),
    [
        ("colleague", frozenset(AccessScope), TAPE, QUOTED, 0),
        ("colleague", frozenset(AccessScope), TAPE, SECRET, 1),
        ("maker", frozenset(AccessScope), TAPE, SECRET, 0),
        ("maker, runs:read alone", frozenset({AccessScope.RUNS_READ}), TAPE, QUOTED, 1),
        ("other organisation", frozenset(AccessScope), TAPE, QUOTED, 1),
        ("other organisation", frozenset(AccessScope), LINK, QUOTED, 0),
        ("other organisation", frozenset(AccessScope), LINK, SECRET, 1),
        ("", frozenset(), LINK, QUOTED, 0),
        ("", frozenset(), TAPE, QUOTED, 1),
    ],
)
def test_a_word_that_was_not_due_is_a_leak(
    name: str, scopes: frozenset[AccessScope], request_: MatrixRequest, found: set[str], leaks: int
) -> None:
    person = HousePerson(name, TENANT, ApiKey.new(), scopes) if name else None
    assert len(list(list_leaks(person, request_, found))) == leaks


def test_a_word_that_was_due_and_did_not_come_is_missing() -> None:
    maker, colleague = (HousePerson(name, TENANT, ApiKey.new()) for name in ("maker", "colleague"))
    assert [fault.what for fault in list_missing(maker, TAPE, set())] == [f"lacks {WORDS[26]}"]
    assert list(list_missing(maker, TAPE, {WORDS[26]})) == []
    assert list(list_missing(colleague, TAPE, set())) == []


def test_words_are_found_in_packed_files_and_over_line_ends() -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("word/document.xml", f"<w:t>{WORDS[3].upper()}</w:t>")
    assert find_words(packed.getvalue()) == {WORDS[3]}
    assert find_words(f"{WORDS[4][:3]}-\n{WORDS[4][3:]}".encode()) == {WORDS[4]}
    assert find_words(b"nothing") == set()
