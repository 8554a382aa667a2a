"""Who passes a turn on has it again when everybody in line has had one."""

from threading import Event, Thread

import pytest

from training.serving.turns import Turns


def test_all_who_wait_have_a_turn_and_one_at_a_time() -> None:
    turns, told = Turns(), list[str]()
    begun = [Event(), Event()]

    def work(number: int) -> None:
        begun[number].set()
        with turns.take():
            told.append(f"{number} begins")
            turns.pass_on()
            told.append(f"{number} ends")

    with turns.take():
        threads = [Thread(target=work, args=(number,)) for number in range(2)]
        for thread, event in zip(threads, begun, strict=True):
            thread.start()
            event.wait()
        assert told == []
        while len(told) < 4:
            turns.pass_on()
        assert not turns.pass_on(), "nobody is left in line"
    for thread in threads:
        thread.join()
    assert sorted(told) == ["0 begins", "0 ends", "1 begins", "1 ends"]


def test_a_turn_that_fails_is_over() -> None:
    turns = Turns()
    with pytest.raises(ValueError, match="broken"), turns.take():
        raise ValueError("broken")
    with turns.take():
        assert not turns.pass_on()
