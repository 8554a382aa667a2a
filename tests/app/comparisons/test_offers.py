"""What this installation can write with, and that everything else is refused before it costs anything."""

import pytest

from app.comparisons.service.offers import Offers, offers_of
from app.domain.errors import InvalidInput
from app.domain.writer import Agents, Arrangement, WriterSettings
from app.settings import read_settings


def test_every_way_that_is_offered_can_be_had() -> None:
    server = {"RUBRICA_LLM_BASE_URL": "http://127.0.0.1:8000/v1", "RUBRICA_LLM_MODEL": "m"}
    for settings in ({}, server, server | {"RUBRICA_LLM_ALTERNATIVES": "small=1/2, large"}):
        offers = offers_of(read_settings(settings))
        assert len({way.name for way in offers.list_ways()}) == len(offers.list_ways()) >= 2
        for way in offers.list_ways():
            offers.check(way.writer)
    assert [way.writer.model for way in offers.list_ways()][:2] == ["small", "large"]


@pytest.mark.parametrize(
    ("offers", "writer", "reason"),
    [
        (Offers(None), WriterSettings(model="m"), "no model is configured"),
        (Offers(None), WriterSettings(temperature=0.5), "no model is configured"),
        (Offers(None), WriterSettings(prompts={"section": "v4"}), "no model is configured"),
        (Offers("m", ("n",)), WriterSettings(model="other"), "there is m, n"),
    ],
)
def test_what_cannot_be_had_is_refused_with_what_there_is(offers: Offers, writer: WriterSettings, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        offers.check(writer)


def test_quoting_is_possible_with_and_without_a_model() -> None:
    for offers in (Offers(None), Offers("m")):
        offers.check(WriterSettings(agents=Agents.BRIEF, arrangement=Arrangement.TIME))


def test_what_is_served_besides_may_be_named_by_those_to_whom_it_is_offered() -> None:
    offers = Offers("m", ("n",))
    further = offers.with_served(["n", "writer-v1-0a", "m"])
    further.check(WriterSettings(model="writer-v1-0a"))
    assert [way.writer.model for way in further.list_ways() if way.writer.model] == ["n", "writer-v1-0a"]
    with pytest.raises(InvalidInput, match=r"there is m, n$"):
        offers.check(WriterSettings(model="writer-v1-0a"))
