"""How long a test waits for what must come. A guard against waiting for ever, never a measure: speed is measured in bench/."""

PATIENCE_S = 60.0
