"""A small server of a base model and its LoRA adapters in vLLM's protocol, for machines without vLLM."""
