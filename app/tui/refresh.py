"""How often the screen is brought up to date."""

EVENTS_SECONDS = 0.066  # new tokens
LABEL_SECONDS = 0.25  # numbers, which nobody can read faster
