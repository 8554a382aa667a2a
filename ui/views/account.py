"""The visitor's own account: consent to training, stored data, password, and erasure.

Plain forms ask for passwords, and the page's own server answers them, as when signing in.
"""

from functools import partial

import streamlit as st

from rubrica_client import ApiError, accounts, preferences
from rubrica_client.models import ConsentView, Me
from ui.components import entry_form, problem
from ui.components.controls import act
from ui.components.markup import hero, labelled, text
from ui.language import named, say, when
from ui.session import api, me, session_token


def main() -> None:
    """Show the consent, the data and the forms of the visitor's account."""
    try:
        who, consent = me(), api().send(preferences.consent())
    except ApiError as error:
        problem.show(error)
        return
    lead = f"{who.name} · {who.email} · {named('role', who.organisation.role)}" if who else say("team.local")
    st.html(hero(say("account.title"), lead))
    if st.query_params.get("done") == "password":
        st.html(f'<div class="r-note" role="status">{text(say("account.password_done"))}</div>')
    with st.container(key="narrow_account"):
        _consent(who, consent)
        _data()
        if session_token() and who and not who.has_password:
            st.html(f'<div class="r-note">{text(say("account.no_password"))}</div>')
            _secret("password", without=("current",))
        elif session_token():
            _secret("password")
            _secret("erase")


def _consent(who: Me | None, consent: ConsentView) -> None:
    st.html(labelled(say("account.training"), f'<p class="r-quiet">{text(say("account.training_help"))}</p>'))
    owner = who is None or who.organisation.role == "owner"
    for whose, since in (("person", consent.person_since), ("organisation", consent.organisation_since)):
        st.toggle(
            named("consent", whose) + (f" ({say('account.since', when=when(since, 'day'))})" if since else ""),
            since is not None,
            key=f"consent_{whose}",
            disabled=whose == "organisation" and not owner,
            on_change=partial(_set, whose),
            help=None if owner or whose == "person" else say("account.owners"),
        )
    st.caption(say("account.given" if consent.given else "account.not_given"))


def _set(whose: str) -> None:
    agreed = bool(st.session_state[f"consent_{whose}"])
    act(lambda: api().send(preferences.set_consent(**{whose: agreed})), say("account.saved"))


def _data() -> None:
    st.html(labelled(say("account.data"), f'<p class="r-quiet">{text(say("account.data_help"))}</p>'))
    st.download_button(
        say("account.download"),
        lambda: api().send(accounts.export()),
        "rubrica-export.json",
        "application/json",
        key="my_data",
        icon=":material/download:",
        on_click="ignore",
    )


def _secret(form: str, without: tuple[str, ...] = ()) -> None:
    """Draw a form that takes a password; it is open if it was refused. `without` names the fields that are left out."""
    back = st.query_params.get("form") == form and "refused" in st.query_params
    with st.expander(named("account_form", form), type="compact", expanded=back, key=f"account_{form}"):
        reason = "" if not back else _no_password_refused() if without else entry_form.refused_html(form)
        st.html(f'<p class="r-quiet">{text(say(f"account.{form}_help"))}</p>{reason}{entry_form.form_html(form, without)}')


def _no_password_refused() -> str:
    return f'<div class="r-note bad" role="alert">{text(say("account.no_password_refused"))}</div>'


main()
