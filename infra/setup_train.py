"""Install what training needs beside the locked packages: `make setup-train`.

Where there is a graphics card, torch is the plain wheel, which brings CUDA; elsewhere the one for processors.
"""

import shutil
import sys

from infra.extras import EXTRAS, TORCH, ExtraUnavailable, install_training, is_importable, list_training_packages, packages_of

PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets")


def main() -> None:
    """Install what is missing."""
    EXTRAS.mkdir(exist_ok=True)
    if all(map(is_importable, PACKAGES)):
        return
    try:
        install_training(*choose_packages(has_card=shutil.which("nvidia-smi") is not None))
    except ExtraUnavailable as reason:
        sys.exit(f"make setup-train: {reason}")


def choose_packages(has_card: bool) -> list[str]:
    """Return the packages for a machine with a graphics card, or without one."""
    return packages_of("train") if has_card else [TORCH, *list_training_packages()]


if __name__ == "__main__":
    main()
