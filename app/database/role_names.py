"""The names of the two database roles, apart from `roles.py`: a program that needs only the names loads no driver."""

API_ROLE = "rubrica_api"
WORKER_ROLE = "rubrica_worker"
