"""Training of Medusa and EAGLE heads, on the target's own answers (self-distillation)."""
