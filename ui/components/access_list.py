"""What a visitor's account has open, as part of the form that changes the password: ticked is what stays."""

from collections.abc import Sequence

from rubrica_client.models import AccessItem, AccessKind
from ui.components.markup import escape
from ui.language import say, say_name, say_time


def keep_html(items: Sequence[AccessItem]) -> str:
    """Return a box to tick for each thing that ends with the old password, as HTML."""
    open_ = [item for item in items if item.kind is not AccessKind.WEBHOOK and not item.current]
    if not open_:
        return f'<p class="r-quiet">{escape(say("account.nothing_open"))}</p>'
    box = '<label class="r-keep"><input type="checkbox" name="keep" value="{}"><span>{}</span></label>'
    boxes = "".join(box.format(escape(item.id), _item_html(item)) for item in open_)
    return f'<fieldset class="r-keeps"><legend>{escape(say("account.keep"))}</legend>{boxes}</fieldset>'


def webhooks_html(items: Sequence[AccessItem]) -> str:
    """Return what the organisation's webhooks are that were made in the visitor's name, as HTML; empty where there are none."""
    hooks = "".join(f"<li>{_item_html(item)}</li>" for item in items if item.kind is AccessKind.WEBHOOK)
    return f'<p class="r-quiet">{escape(say("account.webhooks_stay"))}</p><ul class="r-stay">{hooks}</ul>' if hooks else ""


def _item_html(item: AccessItem) -> str:
    name = say_name("access_kind", item.kind) + (f": {item.name}" if item.name else "")
    facts = (
        item.organisation,
        say("account.from", address=item.address) if item.address else "",
        say("account.since", when=say_time(item.created_at)),
        say("account.last_used", when=say_time(item.last_used_at)) if item.last_used_at else "",
    )
    return f"<strong>{escape(name)}</strong><small>{escape(' · '.join(filter(None, facts)))}</small>"
