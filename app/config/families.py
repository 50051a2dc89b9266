"""Families of public models on the Hugging Face Hub, by name: a target with its drafters.

A head drafts only for the target that it was trained on. Sizes are those of the downloaded files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

APACHE = "Apache-2.0"
LLAMA_3_1, LLAMA_3_2 = "Llama 3.1 licence, gated", "Llama 3.2 licence, gated"
SEE_CARD = "licence: see its card"


@dataclass(frozen=True, slots=True)
class Part:
    """A repository on the hub, the bytes of its files, its parameters and its licence."""

    source: str
    size: float
    parameters: float
    licence: str = APACHE


@dataclass(frozen=True, slots=True)
class PublicFamily:
    """Its parts by role. `chat_template` is set for targets that come without one."""

    parts: Mapping[str, Part]
    chat_template: Path | None = None
    quantizable: bool = True  # False: its files are quantized already

    @property
    def sources(self) -> dict[str, str]:
        return {role: part.source for role, part in self.parts.items()}

    @property
    def size(self) -> float:
        return sum(part.size for part in self.parts.values())

    @property
    def parameters(self) -> float:
        return sum(part.parameters for part in self.parts.values())


_QWEN_DRAFT = Part("Qwen/Qwen3-0.6B", 1.5e9, 0.6e9)

PUBLIC_FAMILIES: Mapping[str, PublicFamily] = {
    "smollm2": PublicFamily(
        {
            "target": Part("HuggingFaceTB/SmolLM2-1.7B-Instruct", 3.42e9, 1.71e9),
            "draft": Part("HuggingFaceTB/SmolLM2-135M-Instruct", 0.27e9, 0.135e9),
        }
    ),
    "qwen3-1.7b": PublicFamily(
        {
            "target": Part("Qwen/Qwen3-1.7B", 4.06e9, 1.72e9),
            "draft": _QWEN_DRAFT,
            "eagle": Part("AngelSlim/Qwen3-1.7B_eagle3", 0.28e9, 0.14e9, SEE_CARD),
        }
    ),
    "vicuna-7b": PublicFamily(
        {
            "target": Part("lmsys/vicuna-7b-v1.3", 13.5e9, 6.74e9, "LLaMA licence"),
            "draft": Part("double7/vicuna-68m", 0.27e9, 0.068e9),
            "medusa": Part("FasterDecoding/medusa-vicuna-7b-v1.3", 1.48e9, 0.74e9, SEE_CARD),
            "eagle": Part("yuhuili/EAGLE-Vicuna-7B-v1.3", 0.74e9, 0.37e9),
        },
        chat_template=Path(__file__).with_name("vicuna.jinja"),
    ),
    "llama-3.1-8b": PublicFamily(
        {
            "target": Part("meta-llama/Llama-3.1-8B-Instruct", 16.1e9, 8.03e9, LLAMA_3_1),
            "draft": Part("meta-llama/Llama-3.2-1B-Instruct", 2.5e9, 1.24e9, LLAMA_3_2),
            "eagle": Part("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", 0.85e9, 0.43e9),
            "eagle1": Part("yuhuili/EAGLE-LLaMA3.1-Instruct-8B", 1.55e9, 0.78e9, SEE_CARD),
        }
    ),
    "qwen3-8b": PublicFamily(
        {
            "target": Part("Qwen/Qwen3-8B", 16.4e9, 8.19e9),
            "draft": _QWEN_DRAFT,
            "eagle": Part("RedHatAI/Qwen3-8B-speculator.eagle3", 2.0e9, 1.0e9),
        }
    ),
    "qwen3-30b-a3b": PublicFamily(
        {
            "target": Part("Qwen/Qwen3-30B-A3B", 61.1e9, 30.5e9),
            "draft": _QWEN_DRAFT,
            "eagle": Part("AngelSlim/Qwen3-a3B_eagle3", 0.3e9, 0.15e9, SEE_CARD),
        }
    ),
    "gpt-oss-20b": PublicFamily(
        {
            "target": Part("openai/gpt-oss-20b", 13.8e9, 20.9e9),
            "eagle": Part("nebius/EAGLE3-gpt-oss-20b", 0.8e9, 0.4e9, "CC BY 4.0"),
        },
        quantizable=False,
    ),
}
