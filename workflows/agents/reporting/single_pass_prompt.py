"""The prompt of a whole report in one call: system prompt, question, outline, quotes (MindDR sections 4.6 and 5.3).

Serving and training render it here, so that a policy is trained on the bytes that it is served with. All that differs from run to
run, but for question, outline and quotes, stands in the system message: a row keeps that as text.
"""

import re
from collections.abc import Iterable, Sequence

from app.domain.chat import ChatRole, Message
from app.domain.query import Language
from app.domain.value import Value
from workflows.agents.memory_text import choose_relevant
from workflows.agents.quote_book import AROUND_FRAME, QuoteBook
from workflows.agents.reporting.outline import Outline
from workflows.agents.untrusted import as_attribute, as_data, as_source
from workflows.agents.wording import say
from workflows.prompts.library import PromptLibrary

SINGLE_PASS_PROMPT = "single_pass"
QUOTES_SHARE = 0.75
"""The share of the evidence's characters for quotes; the text around them gets the rest, and what quotes leave."""
_QUOTE = re.compile(r'<quote id="(q\d+)" source="([^"]*?)(?:, (\d{4}-\d\d-\d\d))?">(.*?)</quote>', re.DOTALL)
_AROUND = re.compile(r'<around id="(q\d+)">(.*?)</around>', re.DOTALL)


class ShownQuote(Value):
    """A quote as the writer sees it. `published` is an ISO date or empty; `around` is the text next to it, with its id."""

    id: str
    title: str
    text: str
    published: str = ""
    around: str = ""


def render_single_pass(
    prompts: PromptLibrary, language: Language, system: str, question: str, outline: Outline | None, quotes: Sequence[ShownQuote]
) -> tuple[Message, Message]:
    """Return the two messages of the one call. Without an outline or quotes, as in the short form of report data, it says so."""
    none = say("none", language)
    user = prompts.get(SINGLE_PASS_PROMPT, language).render_user(
        question=question,
        outline=f"# {outline.title}\n{outline.to_text()}" if outline else none,
        evidence=_format_evidence(quotes) or none,
    )
    return Message(role=ChatRole.SYSTEM, content=system), user


def _format_evidence(quotes: Sequence[ShownQuote]) -> str:
    around = [f'<around id="{quote.id}">{as_data(quote.around)}</around>' for quote in quotes if quote.around]
    return "\n".join([*map(_format_quote, quotes), *around])


def _format_quote(quote: ShownQuote) -> str:
    source = as_attribute(quote.title) + (f", {quote.published}" if quote.published else "")
    return f'<quote id="{quote.id}" source="{source}">{as_source(quote.text)}</quote>'


def read_shown_quotes(message: str) -> list[ShownQuote]:
    """Return the quotes of a message that `render_single_pass` made; rendered again they give the same bytes."""
    around = dict(_AROUND.findall(message))
    return [
        ShownQuote(id=id_, title=title, text=text, published=published, around=around.get(id_, ""))
        for id_, title, published, text in _QUOTE.findall(message)
    ]


def choose_quotes(book: QuoteBook, about: str, chars: int) -> list[ShownQuote]:
    """Return the quotes to show within `chars` characters: all where they fit, else those that say most `about` the report.

    No quote is shortened, except where not one fits.
    """
    quotes = [_show_quote(book, short) for short in book.ids]
    formatted, room = [*map(_format_quote, quotes)], int(chars * QUOTES_SHARE)
    if sum(map(len, formatted)) > room:
        quotes = [quotes[place] for place in choose_relevant(formatted, about, room)] or [_shorten(quotes[0], room)]
    room = chars - sum(len(_format_quote(quote)) for quote in quotes)
    return list(_add_surroundings(book, quotes, room))


def _show_quote(book: QuoteBook, short: str) -> ShownQuote:
    quote = book[short]
    published = quote.source.published.isoformat() if quote.source.published else ""
    return ShownQuote(id=short, title=as_attribute(quote.source.title).strip(), text=as_source(quote.text), published=published)


def _shorten(quote: ShownQuote, chars: int) -> ShownQuote:
    return quote.model_copy(update={"text": f"{quote.text[:chars]} …"})


def _add_surroundings(book: QuoteBook, quotes: Sequence[ShownQuote], chars: int) -> Iterable[ShownQuote]:
    """Add the text around the quotes, all shortened alike so that it fits."""
    known = [quote.id for quote in quotes if book.around(quote.id)]
    share = chars // max(1, 2 * len(known)) - AROUND_FRAME
    for quote in quotes:
        found = book.around(quote.id)
        if found is None or share <= 0:
            yield quote
            continue
        shown = f"…{as_source(found.before[-share:])} [{quote.id}] {as_source(found.after[:share])}…"
        yield quote.model_copy(update={"around": as_data(" ".join(shown.split()))})
