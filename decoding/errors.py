"""The exception for invalid input; users see its message."""


class InputError(ValueError):
    """Invalid input. The message says in one line what is wrong, where, and what to do."""
