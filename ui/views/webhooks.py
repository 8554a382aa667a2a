"""Webhooks: the addresses that hear what happens to the organisation's runs, and the state of each message."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import streamlit as st

from rubrica_client import ApiError, webhooks
from rubrica_client.models import Delivery, DeliveryState, NewWebhook, RevealedWebhook, Webhook, WebhookChange, WebhookEvent
from ui.components import list_page, problem, safe_fragments
from ui.components.controls import send_command
from ui.components.markup import escape, hero_html
from ui.language import say, say_count, say_name, say_time
from ui.session import get_api, may, read_query

PAGE = "views/webhooks.py"
REFRESH = timedelta(seconds=2)
SOON = timedelta(minutes=1)
SECRET = "new_secret"


def main() -> None:
    """Show the webhook in the address with its messages, else all of them."""
    list_page.show(say("webhooks.title"), _show_one, _show_all)


def _show_all(before: str | None) -> None:
    st.html(hero_html(say("webhooks.title"), say("webhooks.lead")))
    if may("webhooks:write"):
        _show_new_form()
    page = get_api().send(webhooks.list_(before=before))  # loaded last, to include the one just added
    if not page.items:
        st.html(f'<p class="r-quiet">{escape(say("webhooks.none"))}</p>')
    for hook in page.items:
        list_page.show_row(PAGE, hook.id, hook.description or hook.url, _facts_html(hook))
    list_page.link_older(PAGE, page.next)


def _show_new_form() -> None:
    with st.expander(say("webhooks.new"), icon=":material/add_link:", type="compact"), st.form("new_webhook", border=False):
        url = st.text_input(say("webhooks.url"), max_chars=2_000, key="webhook_url", placeholder="https://")
        description = st.text_input(say("webhooks.description"), max_chars=200, key="webhook_description")
        events = st.multiselect(
            say("webhooks.events"),
            tuple(WebhookEvent),
            format_func=_name_event,
            key="webhook_events",
            placeholder=say("webhooks.every_event"),
        )
        sent = st.form_submit_button(say("webhooks.make"), type="primary")
    if sent and url.strip():
        new = NewWebhook(url=url.strip(), description=description.strip(), events=events)
        _store_secret("", lambda: get_api().send(webhooks.create(new)))
    _show_secret("")


def _store_secret(hook: str, make: Callable[[], RevealedWebhook]) -> None:
    """Have a secret made and stored for the page of this webhook, which draws itself anew before anybody can copy it."""
    try:
        revealed = make()
    except ApiError as error:
        problem.show(error)
        return
    st.session_state[SECRET] = (hook, revealed.secret)


def _show_secret(hook: str) -> None:
    """Draw the secret that was made last, where it was made."""
    made_at, secret = st.session_state.get(SECRET, ("", ""))
    if secret and made_at == hook:
        st.html(f'<div class="r-note warn" role="status">{escape(say("webhooks.shown_once"))}</div>')
        st.code(secret, language=None)


def _name_event(event: str) -> str:
    return say_name("webhook_event", event.replace(".", "_"))


def _facts_html(hook: Webhook) -> str:
    state = "completed" if hook.enabled else "cancelled"
    pill = f'<span class="r-pill {state}">{escape(say("webhooks.on" if hook.enabled else "webhooks.off"))}</span>'
    events = ", ".join(_name_event(event) for event in hook.events) or say("webhooks.every_event")
    if hook.failing_since:
        failing = say("webhooks.failing", when=say_time(hook.failing_since, "short"))
        pill += f' <span class="r-pill failed">{escape(failing)}</span>'
    facts = "".join(f"<span>{escape(fact)}</span>" for fact in (hook.url if hook.description else "", events) if fact)
    why = f'<div class="r-note bad">{escape(hook.disabled_reason)}</div>' if hook.disabled_reason else ""
    return f'{pill} <div class="r-eyebrow">{facts}</div>{why}'


def _show_one(chosen: str) -> None:
    hook = get_api().send(webhooks.get(chosen))
    st.html(f'<h1 class="r-question">{escape(hook.description or hook.url)}</h1>{_facts_html(hook)}')
    if may("webhooks:write"):
        _show_controls(hook)
    state = st.segmented_control(
        say("webhooks.which"),
        tuple(DeliveryState),
        format_func=lambda state: say_name("delivery", state),
        key="delivery_state",
        on_change=_begin_list_anew,
    )
    lively = _is_lively(hook.id, state)
    safe_fragments.make_fragment(_show_deliveries, run_every=REFRESH if lively else None)(hook, state, lively)


def _begin_list_anew() -> None:
    st.query_params.pop("before", None)


def _show_controls(hook: Webhook) -> None:
    rotated = False
    with st.container(horizontal=True):
        if hook.enabled and st.button(say("webhooks.test"), key="webhook_test", icon=":material/send:"):
            send_command(lambda: get_api().send(webhooks.send_test(hook.id)), say("webhooks.tested"))
        label, icon = ("webhooks.turn_off", ":material/pause:") if hook.enabled else ("webhooks.turn_on", ":material/play_arrow:")
        if st.button(say(label), key="webhook_turn", icon=icon) and send_command(
            lambda: get_api().send(webhooks.change(hook.id, WebhookChange(enabled=not hook.enabled))), say("webhooks.turned")
        ):
            st.rerun()
        with st.popover(say("webhooks.rotate"), icon=":material/key:"):
            st.markdown(say("webhooks.rotate_help"))
            rotated = st.button(say("webhooks.rotate_yes"), key="webhook_rotate", type="primary")
        list_page.offer_delete(say("webhooks.delete_help"), lambda: get_api().send(webhooks.delete(hook.id)))
    if rotated:
        _store_secret(hook.id, lambda: get_api().send(webhooks.rotate_secret(hook.id)))
    _show_secret(hook.id)


def _is_lively(hook: str, state: str | None) -> bool:
    """Return whether a message is on its way now, or will soon be. One that waits hours for its next attempt does not count."""
    newest = get_api().send(webhooks.deliveries(hook, state)).items
    return any(delivery.state == "pending" and (not delivery.error or _is_near(delivery.next_attempt_at)) for delivery in newest)


def _is_near(moment: datetime | None) -> bool:
    return moment is not None and moment < datetime.now(UTC) + SOON


def _show_deliveries(hook: Webhook, state: str | None, lively: bool) -> None:
    """Draw the messages, and refresh them while one is on its way."""
    try:
        page = get_api().send(webhooks.deliveries(hook.id, state, before=read_query("before")))
        if lively and not _is_lively(hook.id, state):
            st.rerun()
    except ApiError as error:
        problem.show(error)
        return
    if not page.items:
        st.html(f'<p class="r-quiet">{escape(say("webhooks.no_messages"))}</p>')
    for delivery in page.items:
        _show_delivery(hook, delivery)
    list_page.link_older(PAGE, page.next, id=hook.id)


def _show_delivery(hook: Webhook, delivery: Delivery) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"row_{delivery.id}"):
        pill = {"pending": "running", "delivered": "completed"}.get(delivery.state, "failed")
        state = "waiting" if delivery.state == "pending" and delivery.error else delivery.state
        answer = say("webhooks.answered", status=delivery.status) if delivery.status and not delivery.error else ""
        retry_at = delivery.next_attempt_at if delivery.error else None
        again = say("webhooks.again", when=say_time(retry_at, "short")) if retry_at else ""
        facts = (say_time(delivery.created_at, "short"), say_count("attempt", delivery.attempts), answer, delivery.error, again)
        facts_text = " · ".join(fact for fact in facts if fact)
        st.html(
            f'<span class="r-pill {pill}">{escape(say_name("delivery", state))}</span> '
            f'<b>{escape(_name_event(delivery.type))}</b><br><span class="r-quiet">{escape(facts_text)}</span>'
        )
        if (
            delivery.state != "pending"
            and hook.enabled
            and may("webhooks:write")
            and st.button(say("webhooks.replay"), key=f"replay_{delivery.id}", icon=":material/replay:")
            and send_command(partial(get_api().send, webhooks.replay(delivery.id)), say("webhooks.replayed"))
        ):
            st.rerun()


main()
