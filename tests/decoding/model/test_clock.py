from __future__ import annotations

import pytest
import torch

from decoding.model.clock import Clock, synchronize


def test_a_gpu_of_any_make_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[torch.device] = []
    monkeypatch.setattr("torch.accelerator.synchronize", waited.append)
    cpu, mps = torch.device("cpu"), torch.device("mps")
    for device in (cpu, mps, torch.device("cuda:1")):
        synchronize(device)
    assert waited == [mps, torch.device("cuda:1")]

    waited.clear()
    clock = Clock(mps)  # its parts are those of the device, not of the host that launches them
    for _ in range(3):
        clock.mark()
    assert waited == [mps] * 3 and len(clock.parts()) == 2
