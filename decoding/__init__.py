"""Speculative decoding over one shared target: trees, acceptance, drafters and the one loop."""
