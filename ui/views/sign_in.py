"""Sign in, sign up, or join by an invitation. Forms that the page's own server answers: a password never passes a script."""

import streamlit as st

from ui.components.markup import text
from ui.language import named, say

# name, kind, what a browser may fill in
FIELDS = {
    "organisation": ("text", "organization"),
    "name": ("text", "name"),
    "email": ("email", "username"),
    "password": ("password", "current-password"),
    "new_password": ("password", "new-password"),
    "token": ("text", "off"),
}
FORMS = {
    "enter": ("email", "password"),
    "sign-up": ("organisation", "name", "email", "new_password"),
    "join": ("token", "name", "new_password"),
}


def main() -> None:
    """The form named in the address, and the way to the others."""
    chosen = st.query_params.get("form", "enter")
    form = chosen if chosen in FORMS else "enter"
    title = text(named("sign_in", form.replace("-", "_")))
    st.html(f'<div class="r-hero"><h1>{title}</h1></div>{refused_html()}{form_html(form)}{others_html(form)}')


def form_html(form: str) -> str:
    """A form of labelled fields."""
    rows = "".join(_field(name) for name in FORMS[form])
    button = text(named("sign_in", form.replace("-", "_")))
    return f'<form class="r-form" method="post" action="/{form}">{rows}<button type="submit">{button}</button></form>'


def _field(name: str) -> str:
    kind, fill = FIELDS[name]
    sent = "password" if name == "new_password" else name
    given = text(st.query_params.get("token", "")) if name == "token" else ""
    return (
        f"<label>{text(named('field', name))}"
        f'<input type="{kind}" name="{sent}" autocomplete="{fill}" value="{given}" required maxlength="300"></label>'
    )


def refused_html() -> str:
    """Why the form came back."""
    status = st.query_params.get("refused")
    if status is None:
        return ""
    reason = status if status in ("0", "400", "401", "409", "429") else "400"
    return f'<div class="r-note bad" role="alert">{text(say(f"sign_in.refused{reason}"))}</div>'


def others_html(form: str) -> str:
    """Links to the other forms."""
    links = (
        f'<a href="/sign-in?form={name}">{text(named("sign_in_to", name.replace("-", "_")))}</a>'
        for name in FORMS
        if name != form
    )
    return f'<p class="r-quiet r-forms">{" · ".join(links)}</p>'


main()
