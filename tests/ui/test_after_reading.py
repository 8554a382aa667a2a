"""Sharing, asking on, and versions, as a reader meets them."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from rubrica_client.models import Change, ReportDiff, SectionDiff, Stretch
from tests.ui.example_runs import QUOTE, SOURCE, SPEECH, add_finished_run
from tests.ui.fake_api import START, FakeApi
from tests.ui.test_pages import shown
from ui.components.versions import diff_html

OpenPage = Callable[..., AppTest]
WHEN = START.isoformat()


def test_sharing_asking_on_and_bringing_a_version_back(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    path = f"/v1/runs/{run.id}"
    link = {"id": "l1", "version": 2, "expires_at": WHEN, "token": "secret"}
    at = SPEECH.index(QUOTE)
    answer = {
        "id": "q1",
        "question": "And <i>silver</i>?",
        "status": "done",
        "answered": True,
        "markdown": "It says **so** [1]. <script>",
        "citations": [{"n": 1, "quote": QUOTE, "start": at, "end": at + len(QUOTE), "source": SOURCE}],
        "claims": [{"text": "It says so.", "citations": [1], "support": "partial", "reason": "of <one> year"}],
    }
    made = [{"n": n, "origin": origin, "created_at": WHEN} for n, origin in ((2, "edited"), (1, "delivered"))]
    api.answer("GET", f"{path}/shares", lambda *_: {"items": [{**link, "token": ""}]})
    api.answer("POST", f"{path}/shares", lambda *_: link)
    api.answer("GET", f"{path}/questions", lambda *_: {"items": [answer]})
    api.answer("POST", f"{path}/questions", lambda *_: answer)
    api.answer("GET", f"{path}/versions", lambda *_: {"items": made})
    api.answer("POST", f"{path}/versions/1/revert", lambda *_: made[0])
    app = open_page("read", run=run.id)
    assert "And &lt;i&gt;silver&lt;/i&gt;?" in shown(app)
    assert "It says <strong>so</strong>" in shown(app)
    assert "&lt;script&gt;" in shown(app)
    assert 'data-cite="qq1-1"' in shown(app)
    assert 'id="claim-qq1-0"' in shown(app), "its doubtful claims are marked, as the report's are"
    app.query_params["cite"] = "qq1-1"
    assert f"<mark>{QUOTE}</mark>" in shown(app.run()), "a number in an answer opens what it cites"
    del app.query_params["cite"]
    app.run()
    app.button(key="share").click().run()
    assert "/shared/secret" in [code.value for code in app.code]
    assert any("is shown once, when it is made" in caption.value for caption in app.caption)
    assert "/shared/secret" in [code.value for code in app.run().code], "whatever else is done on the page, it can be copied"
    again = open_page("read", run=run.id)
    assert not again.code
    assert any("addresses cannot be shown again; make another" in caption.value for caption in again.caption)
    app.chat_input(key="follow_up").set_value(" And silver? ").run()
    assert ("POST", "questions", {"question": "And silver?"}) in api.commands()
    app.button(key="back_1").click().run()
    assert api.commands()[-1][1] == "revert"


def test_a_diff_shows_words_and_no_markup() -> None:
    words = (
        Stretch(change=Change.SAME, text="Duties "),
        Stretch(change=Change.REMOVED, text="fell"),
        Stretch(change=Change.ADDED, text="<b>rose</b>"),
    )
    html = diff_html(ReportDiff(sections=(SectionDiff(change=Change.CHANGED, old=1, new=1, heading="Then", words=words),)))
    assert "Duties <del>fell</del><ins>&lt;b&gt;rose&lt;/b&gt;</ins>" in html
