"""Files attached to a question, as a reader meets them."""

from collections.abc import Callable
from re import Match

from streamlit.testing.v1 import AppTest

from tests.ui.example_runs import QUESTION
from tests.ui.fake_api import START, FakeApi, Json
from tests.ui.test_offered import read_text

OpenPage = Callable[..., AppTest]
WHEN = START.isoformat()


class Shelf:
    """The collections of the fake API, each with what was sent to it; `state` is that of every document."""

    def __init__(self, api: FakeApi) -> None:
        self.collections: list[Json] = []
        self.documents: list[Json] = []
        self.state = "received"
        api.answer("GET", "/v1/collections", lambda *_: {"items": self.collections, "next": None})
        api.answer("POST", "/v1/collections", self._make)
        api.answer("POST", r"/v1/collections/c\d/documents", self._receive)
        api.answer("GET", r"/v1/collections/c\d/documents", lambda *_: {"items": [self._read(d) for d in self.documents]})
        api.answer("POST", "/v1/suggestions", lambda *_: {"collections": []})

    def _make(self, _: Match[str], body: Json | None) -> Json:
        made = {"id": f"c{len(self.collections)}", "created_at": WHEN, "access": {"everyone": True}, **(body or {})}
        self.collections.append(made)
        return made

    def _receive(self, _: Match[str], body: Json | None) -> Json:
        assert b'filename="lease.csv"' in (body or {})["raw"]
        self.documents.append({"id": f"d{len(self.documents)}", "name": "lease.csv", "bytes": 9, "received_at": WHEN})
        return {"items": [self._read(self.documents[-1])], "refused": [{"name": "x.exe", "reason": "is of no kind that is read"}]}

    def _read(self, document: Json) -> Json:
        return {**document, "state": self.state, "detail": "row <3> is empty" if self.state == "failed" else ""}


def test_a_file_dropped_on_the_question_is_read_and_then_searched(api: FakeApi, open_page: OpenPage) -> None:
    shelf = Shelf(api)
    app = open_page("ask")
    app.text_area(key="question").set_value(QUESTION).run()
    app.file_uploader(key="files_0").upload("lease.csv", b"rent,deposit", "text/csv").run()
    (made,) = shelf.collections
    assert made["name"].startswith("lease.csv · ")
    assert made["name"] in read_text(app), "where it is kept is said"
    assert "is of no kind that is read" in read_text(app)
    assert app.multiselect(key="own").value == [made["name"]]
    assert app.button(key="start").disabled
    assert "still being read" in app.button(key="start").help, "a grey button says why"
    assert "not known here yet" in read_text(app)
    shelf.state = "indexed"
    app.run()
    assert "can be searched" in read_text(app)
    assert "not known here yet" not in read_text(app)
    app.button(key="start").click().run()
    sent = [body or {} for _, path, body in api.commands() if path == "runs"]
    assert [body["collections"] for body in sent] == [[made["name"]]]


def test_further_files_come_to_the_same_collection_until_the_question_is_asked(api: FakeApi, open_page: OpenPage) -> None:
    shelf = Shelf(api)
    shelf.state = "failed"
    app = open_page("ask")
    for n in range(2):
        app.file_uploader(key=f"files_{n}").upload("lease.csv", b"rent,deposit", "text/csv").run()
    assert len(shelf.collections) == 1
    assert len(shelf.documents) == 2
    assert "row &lt;3&gt; is empty" in read_text(app)
    assert not app.button(key="start").disabled, "a file that cannot be read holds nothing up"
    app.text_area(key="question").set_value(QUESTION)
    app.button(key="start").click().run()
    app = app.switch_page("views/ask.py").run()
    app.file_uploader(key="files_2").upload("lease.csv", b"rent,deposit", "text/csv").run()
    assert len(shelf.collections) == 2


def test_a_collection_that_was_deleted_meanwhile_holds_nothing_up(api: FakeApi, open_page: OpenPage) -> None:
    Shelf(api)
    app = open_page("ask")
    app.file_uploader(key="files_0").upload("lease.csv", b"rent,deposit", "text/csv").run()
    api.answer("GET", r"/v1/collections/c\d/documents", lambda *_: (404, "there is no such collection"))
    app.run()
    assert "no such collection" in read_text(app)
    assert not app.button(key="start").disabled
