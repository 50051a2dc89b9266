"""The demo family's training text: generators and hand-written answers, seeded and readable.

Every source is a module with `sample(rng, held_out=False) -> Conversation`. With `held_out` it
draws from what training never sees: reserved wordings of a question, reserved combinations of a
story, reserved sums.
"""
