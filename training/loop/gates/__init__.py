"""Gates: proofs and alarms over the scores of held-out items, before and after training (docs/gates.md)."""
