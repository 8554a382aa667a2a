"""The judge of claims: the encoder is cut and not trained, pairs are encoded once by the parts that serve, the head is fitted."""

from collections.abc import Sequence
from math import inf
from pathlib import Path

import numpy as np

from training.evaluation.harness.manifest import digest_files
from training.recipes.catalogue import Recipe
from training.recipes.claim_judge.config import ClaimJudgeConfig, LimitsSection
from training.recipes.claim_judge.data import Example, PairSplit, label_of, list_files, load_pairs
from training.recipes.claim_judge.limits import JudgeLimits, choose_limits, read_all
from training.recipes.claim_judge.packing import measure_reading, write_judge
from training.recipes.ordering import count_steps
from training.recipes.preflight import MemoryEstimate, Preflight, TokenCounts
from training.recipes.report_page import write_report
from training.recipes.run_folder import TrainingFolder
from training.synthesis.claim_support.pairs import ClaimPair
from workflows.checks.grading import Evidence, load_grader
from workflows.judging.pair_encoder import LONGEST, EncodedPair, PairEncoder
from workflows.judging.pair_reader import ENCODER, HEAD, TOKENIZER, PairReader

WORK = "work"
STATE_BYTES = 2
"""Vectors are kept in 16 bits: those of all pairs stay in memory."""


def check(config: ClaimJudgeConfig) -> Preflight:
    """Read the pairs and say what the run will take; tokens are counted as words."""
    import psutil

    pairs = load_pairs(config.data)
    lengths = [min(LONGEST, len(f"{pair.claim} {' '.join(pair.evidence)}".split())) for pair in pairs.learned]
    tokens = TokenCounts(len(lengths), sum(lengths), sum(lengths), max(lengths))
    kept = {"vectors of the pairs": len(lengths) * LONGEST * config.head.size * 3 * STATE_BYTES}
    steps = count_steps(len(lengths), config.optimizer.epochs, config.optimizer.batch_size)
    return Preflight(tokens, steps, MemoryEstimate(kept, psutil.virtual_memory().available), _count_pairs(pairs))


def _count_pairs(pairs: PairSplit) -> dict[str, str]:
    honest = sum(pair.right for pair in pairs.learned)
    return {"honest": f"{honest:,} of the examples", "validated": f"{len(pairs.validated):,} other pairs"}


def train(config: ClaimJudgeConfig, folder: TrainingFolder) -> None:
    """Train, and leave the files of a judge in the folder. What was cut off goes on; only its pairs are encoded again.

    Raises:
        InvalidInput: the pairs cannot be read.
    """
    import torch

    from training.recipes.claim_judge.checkpoints import HeadCheckpoints
    from training.recipes.claim_judge.encoder import make_encoder
    from training.recipes.claim_judge.export import export_head
    from training.recipes.claim_judge.fitting import fit_head

    torch.set_num_threads(1)
    work = folder.path / WORK
    work.mkdir(exist_ok=True)
    pairs = load_pairs(config.data)
    texts = (" ".join((pair.claim, pair.title, *pair.evidence)) for pair in pairs.learned)
    make_encoder(config.encoder, Path(config.model.base), texts, work)
    encoder = PairEncoder((work / ENCODER).read_bytes(), (work / TOKENIZER).read_text(encoding="utf-8"), load_grader().rarity)
    keeper = HeadCheckpoints(folder, config.run)
    head = fit_head(encode_pairs(pairs.learned, encoder), config.head, config.optimizer, config.run.seed, keeper)
    export_head(head, work / HEAD)
    folder.keep_figures(set_limits(work, pairs.validated, config.limits))
    work.rename(folder.model)
    write_report(folder, config.cost)


def set_limits(model: Path, pairs: Sequence[ClaimPair], section: LimitsSection) -> dict[str, float]:
    """Choose the limit of a judge in a folder, write it there, and return the judge's figures on these pairs."""
    write_judge(model, JudgeLimits(-inf))
    limits = choose_limits(read_all(pairs, PairReader(model)), section)
    write_judge(model, limits)
    return measure_reading(read_all(pairs, PairReader(model))) | limits._asdict()


def encode_pairs(pairs: Sequence[ClaimPair], encoder: PairEncoder) -> list[Example]:
    """Encode the pairs; one without a word on either side is left out."""
    encoded = ((encoder.encode(pair.claim, Evidence(pair.title, pair.evidence)), label_of(pair)) for pair in pairs)
    return [Example(_halve_precision(pair), label) for pair, label in encoded if pair is not None]


def _halve_precision(pair: EncodedPair) -> EncodedPair:
    claim, evidence = (states.astype(np.float16) for states in (pair.claim_states, pair.evidence_states))
    return pair._replace(claim_states=claim, evidence_states=evidence)


CLAIM_JUDGE = Recipe(
    name="claim_judge",
    about="the judge that reads a claim and its evidence where no language model does (ours)",
    config=ClaimJudgeConfig,
    check=check,
    digest=lambda config: digest_files(list_files(config.data)),
    train=train,
)
