"""The visitor's own account: consent to training, stored data, password, and erasure.

Plain forms ask for passwords, and the page's own server answers them, as when signing in.
"""

import os
from collections.abc import Sequence
from functools import partial

import streamlit as st

from rubrica_client import ApiError, accounts, preferences
from rubrica_client.models import AccessItem, ConsentView, Me
from ui.components import access_list, plain_forms, problem
from ui.components.controls import send_command
from ui.components.markup import escape, hero_html, labelled_html
from ui.language import say, say_name, say_time
from ui.session import get_api, get_me, read_session_token


def main() -> None:
    """Show the consent, the data and the forms of the visitor's account."""
    try:
        who, consent = get_me(), get_api().send(preferences.consent())
        opened = get_api().send(accounts.access()).items if who and read_session_token() else None
    except ApiError as error:
        problem.show(error)
        return
    facts = (who.name, who.email, say_name("role", who.organisation.role)) if who else (say("team.local"),)
    st.html(hero_html(say("account.title"), " · ".join(filter(None, facts))))
    if st.query_params.get("done") == "password":
        st.html(f'<div class="r-note" role="status">{escape(say("account.password_done"))}</div>')
    with st.container(key="narrow_account"):
        if who and not who.verified and os.environ.get("RUBRICA_SMTP_HOST"):
            _show_unverified()
        _show_consent(who, consent)
        _show_data()
        if who and opened is not None:
            _show_password_forms(who, opened)


def _show_unverified() -> None:
    st.html(f'<div class="r-note">{escape(say("account.unverified"))}</div>')
    if st.button(say("account.send_link"), key="send_link"):
        send_command(lambda: get_api().send(accounts.ask_to_verify()), say("account.link_sent"))


def _show_consent(who: Me | None, consent: ConsentView) -> None:
    st.html(labelled_html(say("account.training"), f'<p class="r-quiet">{escape(say("account.training_help"))}</p>'))
    owner = who is None or who.organisation.role == "owner"
    for whose, since in (("person", consent.person_since), ("organisation", consent.organisation_since)):
        st.toggle(
            say_name("consent", whose) + (f" ({say('account.since', when=say_time(since, 'day'))})" if since else ""),
            since is not None,
            key=f"consent_{whose}",
            disabled=whose == "organisation" and not owner,
            on_change=partial(_set_consent, whose),
            help=None if owner or whose == "person" else say("account.owners"),
        )
    st.caption(say("account.given" if consent.given else "account.not_given"))


def _set_consent(whose: str) -> None:
    agreed = bool(st.session_state[f"consent_{whose}"])
    if not send_command(lambda: get_api().send(preferences.set_consent(**{whose: agreed})), say("account.saved")):
        st.session_state[f"consent_{whose}"] = not agreed


def _show_data() -> None:
    st.html(labelled_html(say("account.data"), f'<p class="r-quiet">{escape(say("account.data_help"))}</p>'))
    st.download_button(
        say("account.download"),
        lambda: get_api().send(accounts.export()),
        "rubrica-export.json",
        "application/json",
        key="my_data",
        icon=":material/download:",
        on_click="ignore",
    )


def _show_password_forms(who: Me, opened: Sequence[AccessItem]) -> None:
    left_out = () if who.has_password else ("current",)
    if not who.has_password:
        st.html(f'<div class="r-note">{escape(say("account.no_password"))}</div>')
    _show_password_form("password", left_out, access_list.keep_html(opened), access_list.webhooks_html(opened))
    if who.has_password:
        _show_password_form("erase")


def _show_password_form(form: str, without: tuple[str, ...] = (), more: str = "", after: str = "") -> None:
    """Draw a form that takes a password; it is open if it was refused. `without` names the fields that are left out.

    `more` is HTML at the form's end, and `after` what follows the form.
    """
    back = st.query_params.get("form") == form and "refused" in st.query_params
    with st.expander(say_name("account_form", form), type="compact", expanded=back, key=f"account_{form}"):
        reason = "" if not back else _no_password_html() if without else plain_forms.refusal_html(form)
        fields = plain_forms.form_html(form, without, more)
        st.html(f'<p class="r-quiet">{escape(say(f"account.{form}_help"))}</p>{reason}{fields}{after}')


def _no_password_html() -> str:
    return f'<div class="r-note bad" role="alert">{escape(say("account.no_password_refused"))}</div>'


main()
