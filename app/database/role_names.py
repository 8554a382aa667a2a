"""What the two database roles are called. Apart from `roles.py`, so that who only needs the names loads no driver."""

API_ROLE = "rubrica_api"
WORKER_ROLE = "rubrica_worker"
