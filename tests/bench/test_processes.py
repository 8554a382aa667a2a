"""CPU accounting, against a child that is known to work and one that is known to wait."""

import os
import subprocess
import sys
import time

from bench.processes import find_tree, measure_cpu_s, measure_resident_mib

BURN = "import time; t=time.process_time()\nwhile time.process_time()-t < 0.3: pass\nprint('done', flush=True); time.sleep(30)"


def test_a_childs_work_counts_for_its_tree_while_it_lives_and_after() -> None:
    before = measure_cpu_s(os.getpid())
    child = subprocess.Popen([sys.executable, "-c", BURN], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    try:
        assert child.pid in find_tree(os.getpid())
        assert measure_cpu_s(child.pid) >= 0.29
        assert measure_cpu_s(os.getpid()) - before >= 0.29
        assert measure_resident_mib(child.pid) > 1
    finally:
        child.kill()
        child.wait()
    assert measure_cpu_s(os.getpid()) - before >= 0.29
    assert measure_cpu_s(child.pid) == 0


def test_waiting_costs_nothing() -> None:
    before = measure_cpu_s(os.getpid())
    time.sleep(0.1)
    assert measure_cpu_s(os.getpid()) - before < 0.09
