"""Ports are free when given, and stay the same when they can."""

import json
import shutil
import socket
from pathlib import Path

import pytest

from app.domain.errors import SetupError
from app.settings import Settings
from infra.local.home import Home
from infra.local.parts import Parts
from infra.local.ports import LOOPBACK, PortBook, PortClaims, find_free_port, is_free, is_listening
from infra.local.temporal import LocalTemporal


async def test_a_port_is_remembered_while_it_is_free(tmp_path: Path) -> None:
    book = tmp_path / "ports.json"
    first = PortBook(book).choose_port("api")
    assert PortBook(book).choose_port("api") == first
    with socket.create_server((LOOPBACK, first)):
        assert await is_listening(first)
        second = PortBook(book).choose_port("api")
        assert second != first
    assert not await is_listening(first)
    assert PortBook(book).choose_port("api") == second


def test_the_preferred_port_comes_before_a_random_one(tmp_path: Path) -> None:
    wanted = find_free_port()
    assert PortBook(tmp_path / "ports.json").choose_port("ui", preferred=wanted) == wanted


@pytest.mark.parametrize(("named", "other"), [("api_port", "ui"), ("ui_port", "api")])
def test_no_part_takes_the_port_that_a_setting_names_for_another(tmp_path: Path, named: str, other: str) -> None:
    settings = Settings.model_validate({"home": tmp_path, named: find_free_port()})
    home = Home(tmp_path)
    home.ports.write_text(json.dumps({other: getattr(settings, named)}))
    parts = Parts(settings, home, with_ui=True)
    parts.give_back()
    assert parts.api_url != parts.ui_url


def test_a_port_is_given_to_one_part_only(tmp_path: Path) -> None:
    first = find_free_port()
    book = PortBook(tmp_path / "ports.json")
    assert book.choose_port("api", preferred=first) == first
    assert book.choose_port("ui", preferred=first) != first
    named = PortBook(tmp_path / "ports.json", taken=[first])
    assert named.choose_port("api") != first


def test_one_port_for_api_and_page_is_refused(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, api_port=9_000, ui_port=9_000)
    with pytest.raises(SetupError, match="RUBRICA_API_PORT and RUBRICA_UI_PORT are both 9000"):
        Parts(settings, Home(settings.home), with_ui=True)
    Home(settings.home).make_socket_folder().rmdir()


def test_a_damaged_book_costs_new_numbers_only(tmp_path: Path) -> None:
    (tmp_path / "ports.json").write_text("{")
    assert is_free(PortBook(tmp_path / "ports.json").choose_port("api"))


def test_two_stacks_that_choose_at_once_are_given_two_ports(tmp_path: Path) -> None:
    wanted = find_free_port()
    one, other = PortClaims(), PortClaims()
    assert PortBook(tmp_path / "one.json", claims=one).choose_port("api", preferred=wanted) == wanted
    second = PortBook(tmp_path / "other.json", claims=other)
    assert second.choose_port("api", preferred=wanted) != wanted
    with pytest.raises(SetupError, match=f"port {wanted} is in use"):
        second.require_port(wanted, "RUBRICA_API_PORT")
    one.release()
    assert second.require_port(wanted, "RUBRICA_API_PORT") == wanted
    other.release()


def test_a_copied_home_that_starts_at_the_same_moment_has_servers_of_its_own(tmp_path: Path) -> None:
    first = Parts(Settings(home=tmp_path / "one"), Home(tmp_path / "one"), with_ui=False)
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    second = Parts(Settings(home=tmp_path / "other"), Home(tmp_path / "other"), with_ui=False)
    first.give_back()
    second.give_back()
    for one, other in ((first.temporal, second.temporal), (first.postgres, second.postgres)):
        assert one is not None
        assert other is not None
        assert one.port != other.port


async def test_the_server_of_another_stack_is_not_taken_for_ones_own(tmp_path: Path) -> None:
    server = LocalTemporal(tmp_path / "temporal", tmp_path / "temporal.log")
    with socket.create_server((LOOPBACK, server.port)), pytest.raises(SetupError, match="address already in use"):
        await server.start()


def test_a_port_somebody_asked_for_is_refused_when_it_is_taken(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SetupError, match=f"port {port} is in use.*RUBRICA_API_PORT"):
            PortBook(tmp_path / "ports.json").require_port(port, "RUBRICA_API_PORT")
