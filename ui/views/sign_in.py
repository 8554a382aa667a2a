"""Sign in, sign up, or join by an invitation. Forms that the page's own server answers: a password never passes a script."""

import os
from urllib.parse import urlencode, urlsplit

import streamlit as st

from ui.components.markup import text
from ui.language import named, say
from ui.sign_in import local, typed_before

# name, kind, what a browser may fill in
FIELDS = {
    "organisation": ("text", "organization"),
    "person": ("text", "name"),
    "email": ("email", "username"),
    "password": ("password", "current-password"),
    "new_password": ("password", "new-password"),
    "token": ("text", "off"),
}
FORMS = {
    "enter": ("email", "password"),
    "sign-up": ("organisation", "person", "email", "new_password"),
    "join": ("token", "person", "new_password"),
}


STATUSES = ("0", "400", "401", "403", "409", "429")
REFUSED = ("sign_in.sign_up401", "sign_in.join400", "sign_in.join401", "sign_in.enter400")
SHORTEST_PASSWORD = 12
FORM_FIELDS = ("form", "refused", "back", "token")  # of the address: about the form itself


def main() -> None:
    """The form named in the address, and the way to the others."""
    chosen = st.query_params.get("form", "enter")
    form = chosen if chosen in FORMS else "enter"
    title = text(named("sign_in", form.replace("-", "_")))
    lead = f'<p class="r-lead">{text(say("sign_in.lead"))}</p>' if form == "sign-up" else ""
    provider = provider_html() if form == "enter" else ""
    body = f"{refused_html(form)}{form_html(form)}{provider}{others_html(form)}"
    st.html(f'<div class="r-entry"><div class="r-hero"><h1>{title}</h1>{lead}</div>{body}</div>')


def wanted() -> str:
    """The page that was asked for before anybody knew who asks."""
    if back := st.query_params.get("back"):
        return local(back)
    rest = {name: value for name, value in st.query_params.items() if name not in FORM_FIELDS}
    path = urlsplit(st.context.url or "/").path or "/"
    return local((path if path != "/sign-in" else "/") + (f"?{urlencode(rest)}" if rest else ""))


def form_html(form: str) -> str:
    """A form of labelled fields. What was typed before it came back is still there."""
    typed = typed_before(st.context.cookies.to_dict()) if "refused" in st.query_params else {}
    rows = "".join(_field(name, typed.get(name, "")) for name in FORMS[form])
    button = text(named("sign_in", form.replace("-", "_")))
    back = f'<input type="hidden" name="back" value="{text(wanted())}">'
    return f'<form class="r-form" method="post" action="/{form}">{back}{rows}<button type="submit">{button}</button></form>'


def _field(name: str, typed: str) -> str:
    kind, fill = FIELDS[name]
    sent = "password" if name == "new_password" else name
    given = text(st.query_params.get("token", "") if name == "token" else typed)
    least = f' minlength="{SHORTEST_PASSWORD}"' if name == "new_password" else ""
    return (
        f"<label>{text(named('field', name))}"
        f'<input type="{kind}" name="{sent}" autocomplete="{fill}" value="{given}" required maxlength="300"{least}></label>'
    )


def refused_html(form: str) -> str:
    """Why the form came back."""
    status = st.query_params.get("refused")
    if status is None:
        return ""
    own = f"sign_in.{form.replace('-', '_')}{status}"
    return f'<div class="r-note bad" role="alert">{text(say(own if own in REFUSED else _refused(status)))}</div>'


def _refused(status: str) -> str:
    return f"sign_in.refused{status if status in STATUSES else '400'}"


def provider_html() -> str:
    """The way in by an identity provider, where this deployment has one. The API is under the address that browsers know."""
    public = os.environ.get("RUBRICA_PUBLIC_URL")
    if not public or not os.environ.get("RUBRICA_OIDC_ISSUER"):
        return ""
    start = text(public.rstrip("/") + "/v1/oidc/start")
    other = f'<p class="r-or">{text(say("sign_in.or"))}</p>'
    return f'{other}<a class="r-button" href="{start}">{text(say("sign_in.provider"))}</a>'


def others_html(form: str) -> str:
    """Links to the other forms; signing up only where this deployment is open for it."""
    closed = os.environ.get("RUBRICA_SIGN_UP") == "0"
    back = wanted()
    links = (
        f'<a href="/sign-in?{text(urlencode({"form": name, "back": back}))}">'
        f"{text(named('sign_in_to', name.replace('-', '_')))}</a>"
        for name in FORMS
        if name != form and not (closed and name == "sign-up")
    )
    return f'<p class="r-quiet r-forms">{" · ".join(links)}</p>'


main()
