from __future__ import annotations

import pytest
import torch
import transformers
from hypothesis import settings

transformers.logging.set_verbosity_error()
settings.register_profile("decoding", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("decoding")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)  # threads only get in each other's way at these sizes
