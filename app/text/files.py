"""Writing files that must not be lost: the library's own writer, for the app."""

from decoding.files import write_atomically as write_atomically
