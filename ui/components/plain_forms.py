"""Plain HTML forms that the page's own server answers, so that no script of the page sees a password."""

from urllib.parse import urlencode, urlsplit

import streamlit as st

from ui.components.markup import escape
from ui.language import say, say_name
from ui.sign_in import keep_local, read_typed

# For each field its HTML type, and its `autocomplete` value.
FIELDS = {
    "organisation": ("text", "organization"),
    "person": ("text", "name"),
    "email": ("email", "username"),
    "password": ("password", "current-password"),
    "new_password": ("password", "new-password"),
    "token": ("text", "off"),
    "code": ("text", "off"),
    "current": ("password", "current-password"),
    "new": ("password", "new-password"),
}
FORMS = {
    "enter": ("email", "password"),
    "sign-up": ("organisation", "person", "email", "new_password"),
    "join": ("token", "person", "new_password"),
    "forgot": ("email",),
    "reset": ("code", "new_password"),
    "verify": ("code",),
    "password": ("current", "new"),
    "erase": ("password",),
}
STATUSES = ("0", "400", "401", "403", "409", "429")
OWN_REASONS = (
    "sign_in.sign_up401",
    "sign_in.join400",
    "sign_in.join401",
    "sign_in.reset400",
    "sign_in.verify400",
    "sign_in.enter400",
    "sign_in.password401",
    "sign_in.erase401",
    "sign_in.erase409",
)
# Reasons why the identity provider sent a visitor back without signing in; the API puts them into the address.
PROVIDER_REASONS = ("denied", "late", "untrusted", "unverified", "closed", "often", "away", "failed")
SHORTEST_PASSWORD = 10
# What a field is called in the request, where its label is another.
SENT_AS = {"new_password": "password", "code": "token"}
FORM_FIELDS = ("form", "refused", "back", "token")  # query parameters that are about the form itself


def find_wanted_page() -> str:
    """Return the page that the visitor asked for before signing in."""
    if back := st.query_params.get("back"):
        return keep_local(back)
    rest = {name: value for name, value in st.query_params.items() if name not in FORM_FIELDS}
    path = urlsplit(st.context.url or "/").path or "/"
    return keep_local((path if path != "/sign-in" else "/") + (f"?{urlencode(rest)}" if rest else ""))


def form_html(form: str, without: tuple[str, ...] = (), more: str = "") -> str:
    """Return a form with labelled fields as HTML, without those in `without`, and with `more` HTML at its end.

    A refused form keeps what was typed.
    """
    typed = read_typed(st.context.cookies.to_dict()) if "refused" in st.query_params else {}
    rows = "".join(_field_html(name, typed.get(SENT_AS.get(name, name), "")) for name in FORMS[form] if name not in without)
    button = escape(say_name("sign_in", form.replace("-", "_")))
    back = f'<input type="hidden" name="back" value="{escape(find_wanted_page())}">'
    return f'<form class="r-form" method="post" action="/{form}">{back}{rows}{more}<button type="submit">{button}</button></form>'


def _field_html(name: str, typed: str) -> str:
    kind, fill = FIELDS[name]
    field_name = SENT_AS.get(name, name)
    value = escape(typed or (st.query_params.get("token", "") if field_name == "token" else ""))
    least = f' minlength="{SHORTEST_PASSWORD}"' if name in ("new", "new_password") else ""
    return (
        f"<label>{escape(say_name('field', name))}"
        f'<input type="{kind}" name="{field_name}" autocomplete="{fill}" value="{value}" required maxlength="300"{least}></label>'
    )


def refusal_html(form: str) -> str:
    """Return why the form was refused as HTML; empty if it was not."""
    status = st.query_params.get("refused")
    if status is None:
        return ""
    kind, _, reason = status.partition("_")
    if kind == "provider":
        message = say(f"sign_in.provider_{reason if reason in PROVIDER_REASONS else 'failed'}")
        return f'<div class="r-note bad" role="alert">{escape(message)}</div>'
    own = f"sign_in.{form.replace('-', '_')}{status}"
    return f'<div class="r-note bad" role="alert">{escape(say(own if own in OWN_REASONS else _common_reason_key(status)))}</div>'


def _common_reason_key(status: str) -> str:
    return f"sign_in.refused{status if status in STATUSES else '400'}"
