"""Pure detectors: no model, no I/O, no state. The product, rewards and evaluation use the same ones."""
