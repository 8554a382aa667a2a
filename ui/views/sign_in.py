"""Sign in, sign up, join by an invitation, or use a link that was mailed.

The page's own server answers the forms, so that no script sees a password.
"""

import os
from urllib.parse import urlencode

import streamlit as st

from ui.components.markup import escape
from ui.components.plain_forms import find_wanted_page, form_html, refusal_html
from ui.language import say, say_name

ENTRIES = ("enter", "sign-up", "join", "forgot")
BY_LINK = ("reset", "verify")
DONE = ("forgot", "verify")


def main() -> None:
    """Show the form in the address, and links to the others."""
    chosen = st.query_params.get("form", "enter")
    form = chosen if chosen in (*ENTRIES, *BY_LINK) else "enter"
    title = escape(say_name("sign_in", form.replace("-", "_")))
    lead = f'<p class="r-lead">{escape(say("sign_in.lead"))}</p>' if form == "sign-up" else ""
    provider = provider_html() if form == "enter" else ""
    body = f"{done_html()}{refusal_html(form)}{form_html(form)}{provider}{others_html(form)}"
    st.html(f'<div class="r-entry"><div class="r-hero"><h1>{title}</h1>{lead}</div>{body}</div>')


def provider_html() -> str:
    """Return the link to the identity provider as HTML, if there is one. It needs the API's address that browsers know."""
    public = os.environ.get("RUBRICA_PUBLIC_URL")
    if not public or not os.environ.get("RUBRICA_OIDC_ISSUER"):
        return ""
    start = escape(f"{public.rstrip('/')}/v1/oidc/start?{urlencode({'back': find_wanted_page()})}")
    other = f'<p class="r-or">{escape(say("sign_in.or"))}</p>'
    return f'{other}<a class="r-button" href="{start}">{escape(say("sign_in.provider"))}</a>'


def done_html() -> str:
    """Return what the last form has done as HTML; empty if it has shown that already."""
    done = st.query_params.get("done")
    return f'<div class="r-note" role="status">{escape(say(f"sign_in.done_{done}"))}</div>' if done in DONE else ""


def others_html(form: str) -> str:
    """Return links to the other forms as HTML: sign-up only if this deployment allows it, `forgot` only if it sends mail."""
    closed = {"sign-up"} if os.environ.get("RUBRICA_SIGN_UP") == "0" else set()
    closed |= set() if os.environ.get("RUBRICA_SMTP_HOST") else {"forgot"}
    back = find_wanted_page()
    links = (
        f'<a href="/sign-in?{escape(urlencode({"form": name, "back": back}))}">'
        f"{escape(say_name('sign_in_to', name.replace('-', '_')))}</a>"
        for name in ENTRIES
        if name != form and name not in closed
    )
    return f'<p class="r-quiet r-forms">{" · ".join(links)}</p>'


main()
