"""The one exception for input that cannot work: its message is the line that the user reads."""


class InputError(ValueError):
    """Wrong input. The message says in one line what is wrong, where, and what to do."""
