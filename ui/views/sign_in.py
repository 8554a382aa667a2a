"""Sign in, sign up, or join by an invitation. The page's own server answers the forms, so that no script sees a password."""

import os
from urllib.parse import urlencode

import streamlit as st

from ui.components.entry_form import form_html, refused_html, wanted
from ui.components.markup import text
from ui.language import named, say

ENTRIES = ("enter", "sign-up", "join")


def main() -> None:
    """Show the form in the address, and links to the others."""
    chosen = st.query_params.get("form", "enter")
    form = chosen if chosen in ENTRIES else "enter"
    title = text(named("sign_in", form.replace("-", "_")))
    lead = f'<p class="r-lead">{text(say("sign_in.lead"))}</p>' if form == "sign-up" else ""
    provider = provider_html() if form == "enter" else ""
    body = f"{refused_html(form)}{form_html(form)}{provider}{others_html(form)}"
    st.html(f'<div class="r-entry"><div class="r-hero"><h1>{title}</h1>{lead}</div>{body}</div>')


def provider_html() -> str:
    """Return the link to the identity provider as HTML, if there is one. It needs the API's address that browsers know."""
    public = os.environ.get("RUBRICA_PUBLIC_URL")
    if not public or not os.environ.get("RUBRICA_OIDC_ISSUER"):
        return ""
    start = text(f"{public.rstrip('/')}/v1/oidc/start?{urlencode({'back': wanted()})}")
    other = f'<p class="r-or">{text(say("sign_in.or"))}</p>'
    return f'{other}<a class="r-button" href="{start}">{text(say("sign_in.provider"))}</a>'


def others_html(form: str) -> str:
    """Return links to the other forms as HTML; sign-up only if this deployment allows it."""
    closed = os.environ.get("RUBRICA_SIGN_UP") == "0"
    back = wanted()
    links = (
        f'<a href="/sign-in?{text(urlencode({"form": name, "back": back}))}">'
        f"{text(named('sign_in_to', name.replace('-', '_')))}</a>"
        for name in ENTRIES
        if name != form and not (closed and name == "sign-up")
    )
    return f'<p class="r-quiet r-forms">{" · ".join(links)}</p>'


main()
