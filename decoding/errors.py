"""The exception for invalid input, whose message users see, and words for it."""


class InputError(ValueError):
    """Invalid input. The message says in one line what is wrong, where, and what to do."""


def reason_for(error: Exception) -> str:
    """What went wrong; of an OSError without its path, which the message has anyway."""
    return getattr(error, "strerror", None) or str(error)
