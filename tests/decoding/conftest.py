from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import pytest  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from hypothesis import settings  # noqa: E402

transformers.logging.set_verbosity_error()
settings.register_profile("decoding", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("decoding")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)  # threads only get in each other's way at these sizes
