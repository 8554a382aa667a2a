"""Run a module's `main()` once the supervisor says that its servers are ready.

Imports take most of the time that a Python service needs to start. Behind this gate, all services import at once while the
database starts, and none sees a database that is not ready. The gate is the standard input: one line opens it; an end
without a line means that the supervisor is gone.
"""

import importlib
import os
import sys

OPEN = b"go\n"


def main() -> None:
    """Import a module, wait, and run its `main()`: `python -m infra.local.gate MODULE [ARGUMENT ...]`."""
    module_name, *arguments = sys.argv[1:]
    module = importlib.import_module(module_name)
    if os.read(sys.stdin.fileno(), len(OPEN)) != OPEN:
        raise SystemExit(f"{module_name}: the supervisor ended before this service could start")
    sys.argv = [module_name, *arguments]
    raise SystemExit(module.main())


if __name__ == "__main__":
    main()
