"""Pure detectors without model, I/O or state. The product, rewards and evaluation use the same ones."""
