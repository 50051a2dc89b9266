"""Which models to load, and how."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from decoding.params import KVCacheDtype

DEVICES = re.compile("auto|cpu|mps|cuda(:[0-9]+)?")
DEVICE_WORDS = "auto, cpu, cuda, cuda:N or mps"


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What to load and how: folders or hub ids of the target (None: the demo family) and of its
    drafters by role."""

    target: str | None = None
    drafters: Mapping[str, str] = field(default_factory=dict)
    medusa_choices: str | None = None  # None: the tree that pays on this machine
    eagle_choices: str | None = None  # None: the dynamic tree
    device: str = "auto"
    dtype: str = "auto"
    quantize: str = "none"
    quantize_draft: str | None = None  # None: as the target
    kv_cache: KVCacheDtype = "none"  # the precision of the target's keys and values
    adapter: str | None = None  # a PEFT adapter to merge into the target
    draft_adapter: str | None = None
    chat_template: str | None = None  # a file; None: the tokenizer's own
    template_args: Mapping[str, Any] = field(default_factory=dict)
    logit_bias: Mapping[str, float] = field(default_factory=dict)  # by token: its id, or its text
    threads: int | None = None  # None: chosen for this machine
    graphs: bool = True  # CUDA graphs, where they pay
    trust_remote_code: bool = False

    def source(self, role: str) -> str | None:
        return self.target if role == "target" else self.drafters.get(role)

    @property
    def of_draft(self) -> ModelOptions:
        """How to load the draft model."""
        quantize = self.quantize_draft or self.quantize
        return replace(self, adapter=self.draft_adapter, quantize=quantize)
