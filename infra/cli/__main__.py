"""`python -m infra.cli`: the same as `rubrica`, for places where a script's first line cannot name the interpreter."""

from infra.cli.main import main

main()
