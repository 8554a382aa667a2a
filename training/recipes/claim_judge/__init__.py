"""The claim judge: a small head over a small encoder, trained on generated claims, that says whether evidence states a claim."""
