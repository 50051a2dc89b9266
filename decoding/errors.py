"""The exception for invalid input, whose message users see, and words for errors of others."""

from pickle import UnpicklingError


class InputError(ValueError):
    """Invalid input. The message says in one line what is wrong, where, and what to do."""


class ParameterError(InputError):
    """The value of a parameter is invalid. The message is the parameter's `name` and the `rest`;
    a command puts its option in the place of the name."""

    def __init__(self, name: str, rest: str) -> None:
        super().__init__(name + rest)
        self.name = name
        self.rest = rest


def reason_for(error: Exception) -> str:
    """Describe what went wrong in a line; an OSError without its path, which the message has
    anyway, and a pickle that holds more than tensors without torch's advice to run it."""
    text = getattr(error, "strerror", None) or str(error)
    if isinstance(error, UnpicklingError) or "weights_only" in text:
        return "it is a pickle that is not only tensors, and might run anything"
    if "deserializing header" in text:  # safetensors says what it found there
        return "a safetensors file that is cut off or damaged: copy or download it again"
    lines = text.strip().splitlines()
    return lines[0] if lines else type(error).__name__


# CUDA's, cuBLAS's, and CPUs'
_SIGNS = ("out of memory", "_ALLOC_FAILED", "can't allocate memory", "not enough memory")


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that memory ran out. Torch says so in plain RuntimeErrors, too:
    those of its CPU allocator, of cuBLAS, and of graphs."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in _SIGNS)


def describe(error: BaseException) -> str:
    """Describe an error in one line; an InputError already is one."""
    if isinstance(error, InputError):
        return str(error)
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
