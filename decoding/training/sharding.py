"""FSDP2: each of several processes holds a part of the weights, gradients and optimizer state of
what is trained, and a part of the frozen target. Checkpoints are those of one process.

Accelerate itself shards on GPUs only, and its checkpoints can't be read by other runs.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from accelerate import PartialState
from torch import Tensor, distributed, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.optim import Optimizer
from transformers import PreTrainedModel

from decoding.errors import InputError
from decoding.model.architecture import layers_of


def process_mesh(device: torch.device) -> DeviceMesh:
    """Return all processes, which are joined if they are not yet. Raises InputError if there is
    only one."""
    os.environ.pop("ACCELERATE_USE_FSDP", None)  # else it would shard again
    PartialState(cpu=device.type == "cpu")  # as the Trainer would later
    if not distributed.is_initialized():
        raise InputError(
            "sharding divides the weights among processes: start several by accelerate launch or "
            "torchrun"
        )
    return init_device_mesh(device.type, (distributed.get_world_size(),))


def shard_layers(model: PreTrainedModel) -> None:
    """Shard the layers' weights; those of a layer are gathered while it runs. Embedding and
    lm_head, which heads read directly, stay whole.

    All processes must run the model equally often. Raises InputError if there is only one."""
    mesh = process_mesh(model.device)
    for layer in layers_of(model)[1]:
        fully_shard(layer, mesh=mesh)


def shard_rest(model: nn.Module, device: torch.device) -> None:
    """Shard all other weights; they are gathered while the model runs."""
    fully_shard(model, mesh=process_mesh(device))


def full_tensor(tensor: Tensor) -> Tensor:
    """Gather a sharded tensor, which all processes must do together; others are returned as they
    are."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def shard_like(tensor: Tensor, like: Tensor) -> Tensor:
    """Return this process's shard of a tensor that all have, if `like` is sharded."""
    if not isinstance(like, DTensor):
        return tensor
    return distribute_tensor(tensor, like.device_mesh, like.placements, src_data_rank=None)


def save_full_state(optimizer: Optimizer) -> None:
    """Give an optimizer of sharded parameters a state dict of full tensors, which any number of
    processes can load."""

    def gather(_: Optimizer, saved: dict[str, Any]) -> dict[str, Any]:
        state = {
            index: {name: full_tensor(value) for name, value in values.items()}
            for index, values in saved["state"].items()
        }
        return saved | {"state": state}

    def divide(optimizer: Optimizer, saved: dict[str, Any]) -> dict[str, Any]:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        state = {
            index: {
                name: shard_like(value, parameters[index]) if value.ndim else value  # not the step
                for name, value in values.items()
            }
            for index, values in saved["state"].items()
        }
        return saved | {"state": state}

    optimizer.register_state_dict_post_hook(gather)
    optimizer.register_load_state_dict_pre_hook(divide)
