"""The folder of a step of a cycle, which its process and its watcher share: the names in it, and what its exit codes mean."""

TASK, OUTCOME, PROGRESS = "task.json", "outcome.json", "progress.json"
"""The task is written by the watcher, the other two by the process."""
EXPORT, SET, RUN, GATE_TABLE = "export", "set", "run", "gate.json"
"""What a snapshot, a stage's set, its training and its gate leave for the steps after them."""

SIGNALLED = 128
"""A process that was asked to stop by a signal ends with this and the signal's number."""
SERVER_AWAY = 75
"""A server does not answer: the step is taken again later (EX_TEMPFAIL)."""
