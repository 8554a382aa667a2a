"""Run `rubrica` as `python -m infra.cli`, for places where a script's first line cannot name the interpreter."""

from infra.cli.main import main

main()
