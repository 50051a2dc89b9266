"""Training: tokenizer, pretraining, self-distillation, draft models and heads."""
