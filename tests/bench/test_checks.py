"""What bench.checks does to sound tables, and what it counts."""

import pytest

from bench.checks import DAMAGES, damage_table, find_sound_tables, measure_damage
from workflows.checks.tables import find_tables

SOUND = "| Year | Rate |\n|:---|---:|\n| 1828 | 61 |\n| 1832 | 33 |"
TEXT = f"Text.\n\n{SOUND}\n\nMore.\n\n| A | B |\n| 1 | 2 |\n\n| one |\n|---|\n| column |"


@pytest.mark.parametrize("how", DAMAGES)
def test_every_damage_breaks_a_sound_table(how: str) -> None:
    (table,) = find_sound_tables(TEXT)
    assert find_tables(damage_table(table, how))[0].faults


def test_figures_of_damage() -> None:
    tables = list(find_sound_tables(TEXT))
    assert measure_damage(tables) == {"tables": 1, "damage_found": 1.0, "damage_repaired": 1.0, "lost": 0, "sound_changed": 0}
