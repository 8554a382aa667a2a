"""Ports are free when given, and stay the same when they can."""

import socket
from pathlib import Path

import pytest

from app.domain.errors import SetupError
from infra.local.ports import LOOPBACK, PortBook, find_free_port, is_free, is_listening, require_port


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


def test_a_damaged_book_costs_new_numbers_only(tmp_path: Path) -> None:
    (tmp_path / "ports.json").write_text("{")
    assert is_free(PortBook(tmp_path / "ports.json").choose_port("api"))


def test_a_port_somebody_asked_for_is_refused_when_it_is_taken() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SetupError, match=f"port {port} is in use.*RUBRICA_API_PORT"):
            require_port(port, "RUBRICA_API_PORT")
