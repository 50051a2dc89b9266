"""How often the screen is brought up to date."""

EVENTS_SECONDS = 0.066  # new tokens
IDLE_SECONDS = 0.25  # while nothing is to be expected
AWAKE_SECONDS = 1.0  # events are expected for so long after the last one, and after a key
LABEL_SECONDS = 0.25  # numbers, which nobody can read faster
