"""Webhooks: the addresses that hear what happens to the organisation's runs, and the state of each message."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import streamlit as st

from rubrica_client import ApiError, webhooks
from rubrica_client.models import Delivery, DeliveryState, NewWebhook, RevealedWebhook, Webhook, WebhookChange, WebhookEvent
from ui.components import problem, shelf
from ui.components.controls import act
from ui.components.markup import hero, text
from ui.facts import may
from ui.language import count, named, say, when
from ui.session import api, kept, me

PAGE = "views/webhooks.py"
REFRESH = timedelta(seconds=2)


def main() -> None:
    """Show the webhook in the address with its messages, else all of them."""
    shelf.show(say("webhooks.title"), _one, _all)


def _may_write() -> bool:
    who = me()
    return who is None or may(who, "webhooks:write")


def _all(before: str | None) -> None:
    st.html(hero(say("webhooks.title"), say("webhooks.lead")))
    if _may_write():
        _new()
    page = api().send(webhooks.list_(before=before))  # loaded last, to include the one just added
    if not page.items:
        st.html(f'<p class="r-quiet">{text(say("webhooks.none"))}</p>')
    for hook in page.items:
        shelf.row(PAGE, hook.id, hook.description or hook.url, _facts_html(hook))
    shelf.older(PAGE, page.next)


def _new() -> None:
    with st.expander(say("webhooks.new"), icon=":material/add_link:", type="compact"), st.form("new_webhook", border=False):
        url = st.text_input(say("webhooks.url"), max_chars=2_000, key="webhook_url", placeholder="https://")
        description = st.text_input(say("webhooks.description"), max_chars=200, key="webhook_description")
        events = st.multiselect(
            say("webhooks.events"),
            tuple(WebhookEvent),
            format_func=_event,
            key="webhook_events",
            placeholder=say("webhooks.every_event"),
        )
        sent = st.form_submit_button(say("webhooks.make"), type="primary")
    if sent and url.strip():
        new = NewWebhook(url=url.strip(), description=description.strip(), events=events)
        _reveal(lambda: api().send(webhooks.create(new)))


def _reveal(make: Callable[[], RevealedWebhook]) -> None:
    """Show a new secret this once: the page does not store it, so the next refresh removes it."""
    try:
        revealed = make()
    except ApiError as error:
        problem.show(error)
        return
    st.html(f'<div class="r-note warn" role="status">{text(say("webhooks.shown_once"))}</div>')
    st.code(revealed.secret, language=None)


def _event(event: str) -> str:
    return named("webhook_event", event.replace(".", "_"))


def _facts_html(hook: Webhook) -> str:
    state = "completed" if hook.enabled else "cancelled"
    pill = f'<span class="r-pill {state}">{text(say("webhooks.on" if hook.enabled else "webhooks.off"))}</span>'
    events = ", ".join(_event(event) for event in hook.events) or say("webhooks.every_event")
    failing = say("webhooks.failing", when=when(hook.failing_since, "short")) if hook.failing_since else ""
    facts = "".join(f"<span>{text(fact)}</span>" for fact in (hook.url, events, failing) if fact)
    why = f'<div class="r-note bad">{text(hook.disabled_reason)}</div>' if hook.disabled_reason else ""
    return f'{pill} <div class="r-eyebrow">{facts}</div>{why}'


def _one(chosen: str) -> None:
    hook = api().send(webhooks.get(chosen))
    st.html(f'<h1 class="r-question">{text(hook.description or hook.url)}</h1>{_facts_html(hook)}')
    if _may_write():
        _controls(hook)
    state = st.segmented_control(
        say("webhooks.which"), tuple(DeliveryState), format_func=lambda state: named("delivery", state), key="delivery_state"
    )
    lively = _lively(hook.id, state)
    st.fragment(_deliveries, run_every=REFRESH if lively else None)(hook, state, lively)


def _controls(hook: Webhook) -> None:
    rotated = False
    with st.container(horizontal=True):
        if hook.enabled and st.button(say("webhooks.test"), key="webhook_test", icon=":material/send:"):
            act(lambda: api().send(webhooks.send_test(hook.id)), say("webhooks.tested"))
        label, icon = ("webhooks.turn_off", ":material/pause:") if hook.enabled else ("webhooks.turn_on", ":material/play_arrow:")
        if st.button(say(label), key="webhook_turn", icon=icon) and act(
            lambda: api().send(webhooks.change(hook.id, WebhookChange(enabled=not hook.enabled))), say("webhooks.turned")
        ):
            st.rerun()
        with st.popover(say("webhooks.rotate"), icon=":material/key:"):
            st.markdown(say("webhooks.rotate_help"))
            rotated = st.button(say("webhooks.rotate_yes"), key="webhook_rotate", type="primary")
        shelf.delete(say("webhooks.delete_help"), lambda: api().send(webhooks.delete(hook.id)))
    if rotated:
        _reveal(lambda: api().send(webhooks.rotate_secret(hook.id)))


def _lively(hook: str, state: str | None) -> bool:
    """Return whether a message is on its way now. One that waits hours for its next attempt does not count."""
    newest = api().send(webhooks.deliveries(hook, state)).items
    return any(delivery.state == "pending" and not delivery.error for delivery in newest)


def _deliveries(hook: Webhook, state: str | None, lively: bool) -> None:
    """Draw the messages, and refresh them while one is on its way."""
    try:
        page = api().send(webhooks.deliveries(hook.id, state, before=kept("before")))
        if lively and not _lively(hook.id, state):
            st.rerun()
    except ApiError as error:
        problem.show(error)
        return
    if not page.items:
        st.html(f'<p class="r-quiet">{text(say("webhooks.no_messages"))}</p>')
    for delivery in page.items:
        _delivery(hook, delivery)
    shelf.older(PAGE, page.next, id=hook.id)


def _delivery(hook: Webhook, delivery: Delivery) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"row_{delivery.id}"):
        pill = {"pending": "running", "delivered": "completed"}.get(delivery.state, "failed")
        answer = say("webhooks.answered", status=delivery.status) if delivery.status else ""
        retry_at = delivery.next_attempt_at if delivery.error else None
        again = say("webhooks.again", when=when(retry_at, "short")) if retry_at else ""
        facts = (when(delivery.created_at, "short"), count("attempt", delivery.attempts), answer, delivery.error, again)
        facts_text = " · ".join(fact for fact in facts if fact)
        st.html(
            f'<span class="r-pill {pill}">{text(named("delivery", delivery.state))}</span> '
            f'<b>{text(_event(delivery.type))}</b><br><span class="r-quiet">{text(facts_text)}</span>'
        )
        if (
            delivery.state != "pending"
            and hook.enabled
            and _may_write()
            and st.button(say("webhooks.replay"), key=f"replay_{delivery.id}", icon=":material/replay:")
            and act(partial(api().send, webhooks.replay(delivery.id)), say("webhooks.replayed"))
        ):
            st.rerun()


main()
