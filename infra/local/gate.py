"""Run a module's `main()` once the supervisor says that what it depends on is ready.

Imports take most of the time a Python service needs to start. Behind this gate all services import at once, while the
database still starts, and none of them ever sees a database that is not ready. The gate is the standard input: one line
opens it; its end without a line means that the supervisor is gone.
"""

import importlib
import os
import sys

OPEN = b"go\n"


def main() -> None:
    """`python -m infra.local.gate MODULE [ARGUMENT ...]`."""
    module_name, *arguments = sys.argv[1:]
    module = importlib.import_module(module_name)
    if os.read(sys.stdin.fileno(), len(OPEN)) != OPEN:
        raise SystemExit(f"{module_name}: the supervisor ended before this service could start")
    sys.argv = [module_name, *arguments]
    raise SystemExit(module.main())


if __name__ == "__main__":
    main()
