"""Every duration of durable execution, named once."""

from datetime import timedelta

from temporalio.common import RetryPolicy

# A stage may last as long as an outage. After this time Temporal starts it again, and it continues from its stored turns.
STAGE_LIMIT = timedelta(days=7)
# A worker that is silent for this long counts as dead, and its stages go to another.
HEARTBEAT_LIMIT = timedelta(seconds=12)
HEARTBEAT_EVERY = timedelta(seconds=4)
# A step of retraining may train for weeks, or wait for a device.
STEP_LIMIT = timedelta(days=60)
# Bookkeeping (status, plan) is one transaction; it is repeated for as long as the database is away.
BOOKKEEPING_LIMIT = timedelta(seconds=30)

# Only a worker's death, a time-out or a stopping worker are retried here. Stages wait for a model that is away, tools retry
# their providers, and a final failure is marked so that Temporal does not retry it.
STAGE_RETRIES = RetryPolicy(
    initial_interval=timedelta(milliseconds=200), backoff_coefficient=2.0, maximum_interval=timedelta(seconds=20)
)
BOOKKEEPING_RETRIES = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=10))

# A stopping worker lets each turn in flight end and be stored, at most this long.
SHUTDOWN_GRACE = timedelta(seconds=20)
# When a cap on tokens or money halts a stage, how long turns of parallel siblings that are already paid for may take to end.
DRAIN_LIMIT = timedelta(minutes=15)
# A pause, a cancel or a cap on minutes lets a call in flight end within this time; a longer one is given up.
CALL_GRACE = timedelta(seconds=5)

STICKY_LIMIT = timedelta(seconds=5)
RECONCILE_EVERY = timedelta(minutes=1)
# Temporal lists a poller for minutes after its last request, which itself lasts at most one: older ones are gone.
POLLER_SEEN_WITHIN = timedelta(seconds=75)

# Waiting for a model server that is away.
FIRST_WAIT = timedelta(milliseconds=500)
LONGEST_WAIT = timedelta(seconds=10)
LONGEST_RETRY_AFTER = timedelta(hours=1)
# How often a stage that waits, or whose calls are in flight, looks for what its reader wishes.
HALT_POLL = timedelta(seconds=3)
# How often an agent without a reservation looks whether other workers have given theirs back.
RESERVATIONS_POLL = timedelta(seconds=0.5)
# A model call takes less time, and who waits for a model writes an event now and then: what a run without events holds is lost.
RESERVATIONS_LIVE = timedelta(minutes=30)
WAITING_EVENT_EVERY = timedelta(seconds=30)
# A model that sends no token for so long is told of. For so long it may send none where that is no longer the usual time for
# what it was asked; the longest stands for a server on this machine that reads all of a long context.
TOLD_SILENCE = timedelta(seconds=20)
USUAL_SILENCE = timedelta(minutes=3)
LONGEST_SILENCE = timedelta(hours=1)
# A call that is given up gets so long to hand over what has arrived, as in a worker that was frozen.
LAST_LOOK = timedelta(seconds=3)
# A server that asks for more patience than this makes the run offer its reader a choice.
LONG_WAIT = timedelta(minutes=1)

# So many refusals in a row, with no answer between, mean that the server refuses everything; a wrong key needs only one.
REFUSALS_IN_A_ROW = 3

# Waiting for the database.
DATABASE_FIRST_WAIT = timedelta(milliseconds=200)
DATABASE_LONGEST_WAIT = timedelta(seconds=5)

# Workers report themselves to the server this often; one that is silent for six times as long is gone.
WORKER_REPORTS_EVERY = timedelta(seconds=5)
WORKER_SEEN_WITHIN = 6 * WORKER_REPORTS_EVERY
# A new version becomes known to the server with its worker's first request.
REGISTRATION_POLL = timedelta(milliseconds=50)
REGISTRATION_LIMIT = timedelta(seconds=60)
