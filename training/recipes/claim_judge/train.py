"""`python -m training.recipes.claim_judge.train --config F --out FOLDER`: train the judge of claims.

The encoder is cut and kept as it is; the pairs are encoded once, by the parts that serve; only the head is fitted. The folder's
`model/` then holds what `workflows/judging/pair_reader_files` ships.
"""

import argparse
import json
from collections.abc import Sequence
from math import inf
from pathlib import Path

import numpy as np
import torch

from training.recipes.claim_judge.config import ClaimJudgeConfig, LimitsSection, read_config
from training.recipes.claim_judge.data import label_of, load_pairs
from training.recipes.claim_judge.encoder import make_encoder
from training.recipes.claim_judge.export import export_head
from training.recipes.claim_judge.fitting import Example, fit_head
from training.recipes.claim_judge.limits import JudgeLimits, choose_limits, read_all
from training.recipes.claim_judge.packing import measure_reading, write_judge
from training.synthesis.claim_support.pairs import ClaimPair
from workflows.checks.grading import Evidence, load_grader
from workflows.judging.pair_encoder import EncodedPair, PairEncoder
from workflows.judging.pair_reader import ENCODER, HEAD, TOKENIZER, PairReader

METRICS, MODEL = "metrics.jsonl", "model"
LOGGED_EVERY = 50


def train(config: ClaimJudgeConfig, folder: Path, beside: Path) -> dict[str, float]:
    """Train in this folder, and return the figures of the validation pairs. Paths of the configuration are relative to `beside`.

    Raises:
        InvalidInput: the pairs cannot be read.
    """
    torch.set_num_threads(1)
    model = folder / MODEL
    model.mkdir(parents=True, exist_ok=True)
    pairs = load_pairs(config.data, beside)
    texts = (" ".join((pair.claim, pair.title, *pair.evidence)) for pair in pairs.learned)
    make_encoder(config.encoder, beside / config.encoder.checkpoint, texts, model)
    encoder = PairEncoder((model / ENCODER).read_bytes(), (model / TOKENIZER).read_text(encoding="utf-8"), load_grader().rarity)
    with (folder / METRICS).open("w", encoding="utf-8") as metrics:

        def observe(step: int, loss: float) -> None:
            if step % LOGGED_EVERY == 0:
                print(json.dumps({"step": step, "loss": round(loss, 4)}), file=metrics, flush=True)

        head = fit_head(encode_pairs(pairs.learned, encoder), config.head, config.optimizer, config.seed, observe)
    export_head(head, model / HEAD)
    return set_limits(model, pairs.validated, config.limits)


def set_limits(model: Path, pairs: Sequence[ClaimPair], section: LimitsSection) -> dict[str, float]:
    """Choose the limits of a judge in a folder, write them there, and return its figures on these pairs."""
    write_judge(model, JudgeLimits(-inf))
    limits = choose_limits(read_all(pairs, PairReader(model)), section)
    write_judge(model, limits)
    return measure_reading(read_all(pairs, PairReader(model))) | limits._asdict()


def encode_pairs(pairs: Sequence[ClaimPair], encoder: PairEncoder) -> list[Example]:
    """Encode the pairs; one without a word on either side is left out."""
    encoded = ((encoder.encode(pair.claim, Evidence(pair.title, pair.evidence)), label_of(pair)) for pair in pairs)
    return [Example(_halve_precision(pair), label) for pair, label in encoded if pair is not None]


def _halve_precision(pair: EncodedPair) -> EncodedPair:
    """Return the pair with states in 16 bits: tens of thousands are kept in memory."""
    claim, evidence = (states.astype(np.float16) for states in (pair.claim_states, pair.evidence_states))
    return pair._replace(claim_states=claim, evidence_states=evidence)


def main() -> None:
    """Train and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="the folder of the run")
    options = parser.parse_args()
    print(json.dumps(train(read_config(options.config), options.out, options.config.parent)))


if __name__ == "__main__":
    main()
