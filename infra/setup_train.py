"""Install what training needs beside the locked packages: `make setup-train`.

Where there is a graphics card, torch is the plain wheel, which brings CUDA; elsewhere the one for processors, or the plain
one where no index offers that: PyPI does not.
"""

import shutil
import sys

from infra.extras import FOLDER, TORCH, ExtraUnavailable, install_training, is_importable, list_training_packages, packages_of

PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets")


def main() -> None:
    """Install what is missing."""
    FOLDER.mkdir(exist_ok=True)
    if all(map(is_importable, PACKAGES)):
        return
    has_card = shutil.which("nvidia-smi") is not None
    reason: ExtraUnavailable | None = None
    for packages in list_choices(has_card):
        try:
            return install_training(*packages)
        except ExtraUnavailable as error:
            reason = error
    sys.exit(f"make setup-train: {reason}")


def list_choices(has_card: bool) -> list[list[str]]:
    """Return the packages that are tried in turn, on a machine with a graphics card or without one."""
    plain = packages_of("train")
    return [plain] if has_card else [[TORCH, *list_training_packages()], plain]


if __name__ == "__main__":
    main()
