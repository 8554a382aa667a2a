"""Serve a base model and its LoRA adapters by transformers and PEFT, for machines without vLLM, in vLLM's protocol.

    python -m training.serving FOLDER [--lora NAME=FOLDER ...] [--port N] [--device cpu] [--api-key-env NAME]

It prints its address when it is ready. After SIGTERM or Ctrl-C it ends when the requests in hand have ended.
"""

import argparse
import asyncio
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.domain.errors import RubricaError, SetupError
from training.recipes.starting import require_packages


def parse_lora(stated: str) -> tuple[str, Path]:
    """Return the name and folder of an adapter that is stated as `NAME=FOLDER`."""
    name, separator, folder = stated.partition("=")
    if not (name and separator and folder):
        raise argparse.ArgumentTypeError(f"{stated!r} is not NAME=FOLDER")
    return name, Path(folder)


def parse_arguments(arguments: Sequence[str]) -> dict[str, Any]:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m training.serving", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the base model: weights, tokenizer, chat template")
    parser.add_argument("--served-model-name", metavar="NAME", help="the base's name (default: that of its folder)")
    parser.add_argument("--lora", type=parse_lora, action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="0: a free one")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--template", choices=("own", "chatml"), default="own", help="as [model] template of a recipe")
    parser.add_argument("--max-model-len", type=int, default=0, help="tokens of prompt and answer (default: the model's)")
    parser.add_argument("--max-loras", type=int, default=8, help="adapters in memory at once")
    parser.add_argument("--max-lora-rank", type=int, default=64)
    parser.add_argument("--api-key-env", metavar="NAME", help="the environment variable that holds the key")
    return vars(parser.parse_args(arguments))


def main(arguments: Sequence[str]) -> int:
    """Serve. Return 2 and print the reason where a folder, an option or the address cannot be used."""
    stated = parse_arguments(arguments)
    name, loras = stated.pop("served_model_name"), dict(stated.pop("lora"))
    try:
        key = _read_key(stated.pop("api_key_env"))
        require_packages()
        warnings.filterwarnings("ignore", "Already found a `peft_config` attribute")  # several adapters are what is wanted
        from training.serving.server import ServingOptions, serve

        asyncio.run(serve(ServingOptions(name=name or stated["folder"].resolve().name, loras=loras, key=key, **stated)))
    except RubricaError as error:
        sys.stderr.write(f"serving: {error}\n")
        return 2
    return 0


def _read_key(variable: str | None) -> str:
    key = os.environ.get(variable, "") if variable else ""
    if variable and not key:
        raise SetupError(f"the environment variable {variable} holds no key")
    return key


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
