"""Do the work of `rubrica registry card`: Markdown, or a page with the curves."""

from pathlib import Path

from markdown_it import MarkdownIt

from app.domain.errors import InvalidInput
from app.models.service import registry
from app.models.service.card import read_curves, render_card
from app.settings import Settings
from infra.cli.registry_commands import open_registry
from training.pages.markup import render_document
from training.pages.plots import draw_curves

PAGE, TEXT = ".html", ".md"
MOST_CURVES = 12


async def write_card(settings: Settings, named: str, out: Path | None) -> int:
    """Print the card of a version, or write it to a file of either form.

    Raises:
        InvalidInput: the file has another ending, or cannot be written.
    """
    if out is not None and out.suffix not in (PAGE, TEXT):
        raise InvalidInput(f"{out}: name a file that ends in {TEXT} or {PAGE}")
    async with open_registry(settings) as opened:
        version = await registry.find_version(opened.database, named)
        detail = await registry.describe_version(opened.database, version.id)
    card = render_card(detail)
    if out is None:
        print(card, end="")
        return 0
    _write(out, card if out.suffix == TEXT else render_page(detail, card))
    print(out)
    return 0


def _write(out: Path, text: str) -> None:
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{out} cannot be written: {error.strerror}") from error


def render_page(detail: registry.VersionDetail, card: str) -> str:
    """Render a card as a page, with a plot of each curve of the run that made the version."""
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(card.split("---\n", 2)[2])
    curves = read_curves(detail.evaluations)
    plots = [draw_curves(name, {name: points}, ("step", "")) for name, points in list(curves.items())[:MOST_CURVES] if points]
    return render_document(detail.version.name, [body, *plots])
