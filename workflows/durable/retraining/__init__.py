"""Cycles of retraining: a workflow of steps that are processes, each in a folder of its own (ADR 0046)."""
