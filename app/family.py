"""Loads what the lanes share: target, tokenizer, and the models that draft for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    GenerationConfig,
    PreTrainedTokenizerBase,
)
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from app.assets import assets
from app.settings import ModelOptions
from app.strategies import STRATEGIES
from app.threads import choose_threads
from decoding.checkpoints.eagle_fit import TargetShape
from decoding.checkpoints.eagle_read import read_eagle
from decoding.checkpoints.medusa import is_merged, read_medusa
from decoding.cost import PROMPT, SIZES, pass_seconds, verify_cost
from decoding.curve import Curve
from decoding.drafters.eagle import head_on
from decoding.drafters.eagle_head import EagleHead
from decoding.drafters.medusa import MedusaHeads, default_choices
from decoding.drafters.medusa_tree import Choices, parse_choices
from decoding.errors import InputError
from decoding.target import Target
from decoding.vocabulary import first_difference

QUICK_PASS = 0.02  # seconds; a few dozen are measured
Progress = Callable[[str, float | None], None]


@dataclass(eq=False)
class Family:
    """A target, its tokenizer, and what drafts for it. `missing` says for strategies that can't run
    why not, in one line."""

    name: str
    target: Target
    tokenizer: PreTrainedTokenizerBase
    threads: int
    draft: Target | None = None
    medusa: MedusaHeads | None = None
    choices: Choices = ()
    eagles: dict[str, EagleHead] = field(default_factory=dict)  # by strategy
    eagle_choices: Choices = ()
    notes: dict[str, str] = field(default_factory=dict)  # by strategy: how its checkpoint was read
    missing: dict[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()  # processors that the model's generation_config asks for
    eos: frozenset[int] = field(default_factory=frozenset)

    @property
    def title(self) -> str:
        """A short name: the demo, a folder's last part, a hub id."""
        demo = Path(self.name) == assets() / "demo" / "target"
        return "demo" if demo else _short(self.name)

    @cached_property
    def verify_cost(self) -> Curve:
        """Seconds of a pass over n nodes on this machine, measured when first asked for."""
        return verify_cost(self.target)

    @property
    def pass_costs(self) -> tuple[tuple[int, float], ...]:
        """The points of `verify_cost`, if they were measured or that takes no second; else ()."""
        if "verify_cost" not in self.__dict__:
            too_short = self.context < PROMPT + SIZES[-1]
            if too_short or pass_seconds(self.target, 1) > QUICK_PASS:
                return ()
        return tuple((int(nodes), seconds) for nodes, seconds in self.verify_cost.points)

    @property
    def device(self) -> str:
        return str(self.target.device)

    @property
    def dtype(self) -> str:
        return str(self.target.dtype).removeprefix("torch.")

    @property
    def context(self) -> int:
        return self.target.context

    def encode(self, messages: Sequence[dict[str, str]], raw: bool = False) -> list[int]:
        """Ids of a conversation by the tokenizer's chat template, ready for the answer. With `raw`,
        or where there is no template, the contents alone, one after the other."""
        if raw or not self.tokenizer.chat_template:
            text = "\n".join(message["content"] for message in messages)
            return _ids(self.tokenizer(text))
        try:
            encoded = self.tokenizer.apply_chat_template(
                list(messages), add_generation_prompt=True, return_dict=True
            )
        except Exception as error:  # templates raise what they like, such as for a system role
            raise InputError(
                f"the model's chat template can't take this conversation: {error}"
            ) from error
        return _ids(encoded)

    def decode(self, ids: Sequence[int]) -> str:
        return str(
            self.tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    @torch.inference_mode()
    def logit_gap(
        self, ids: Sequence[int], a: int, b: int, cancelled: Callable[[], bool] = lambda: False
    ) -> float:
        """How far apart the target's logits of tokens `a` and `b` are behind `ids`. Raises
        InterruptedError when `cancelled()`."""
        logits = self.target.prefill(self.target.new_cache(), ids, cancelled).logits[0].float()
        return abs(float(logits[a] - logits[b]))


def load_family(
    options: ModelOptions,
    progress: Progress = lambda what, part: None,
    strategies: Collection[str] = tuple(STRATEGIES),
) -> Family:
    """Load the target, and of what `options` names to draft for it that which the strategies use.
    Raises InputError with the line for the user."""
    demo = options.target is None
    place = str(assets() / "demo" / "target") if options.target is None else options.target
    draft_place = options.draft or (str(assets() / "demo" / "draft") if demo else None)
    medusa_place = options.medusa or (_demo_heads("medusa") if demo else None)
    choices = parse_choices(options.medusa_choices) if options.medusa_choices else ()
    eagle_choices = parse_choices(options.eagle_choices) if options.eagle_choices else ()
    if options.medusa and is_merged(Path(options.medusa).expanduser()):
        place = options.medusa
    if options.quantize != "none" and _device(options.device) == "cpu":
        raise InputError("--quantize needs a GPU: leave it out, or choose --device cuda")
    progress(f"tokenizer of {_short(place)}", 0.0)
    tokenizer = load_tokenizer(place, options)
    progress(f"target {_short(place)}", 0.1)
    target = Target(load_model(place, options))
    ignored, eos = _generation_settings(target, tokenizer)
    family = Family(
        place, target, tokenizer, 0, eagle_choices=eagle_choices, ignored=ignored, eos=eos
    )
    if draft_place is None:
        family.missing |= dict.fromkeys(
            ("draft", "drafter"), "no draft model: give one with --draft"
        )
    elif {"draft", "drafter"} & set(strategies):
        progress(f"draft model {_short(draft_place)}", 0.7)
        family.draft = _load_draft(draft_place, options, tokenizer, target)
    progress("choosing the number of threads", 0.9)
    family.threads = choose_threads(target, options.threads)
    if medusa_place is None:
        family.missing["medusa"] = "no Medusa heads: give them with --medusa"
    elif "medusa" in strategies:
        progress(f"Medusa heads {_short(medusa_place)}", 0.92)
        weights = read_medusa(Path(medusa_place).expanduser(), target.hidden, target.vocab_size)
        family.medusa = MedusaHeads(weights, target)
        family.choices = choices or default_choices(family.medusa, target, family.verify_cost)
    for strategy, given, demo_name in (
        ("eagle", options.eagle, "eagle3"),
        ("eagle1", options.eagle1, "eagle1"),
    ):
        eagle_place = given or (_demo_heads(demo_name) if demo else None)
        if eagle_place is None:
            family.missing[strategy] = f"no EAGLE draft: give one with --{strategy}"
        elif strategy in strategies:
            progress(f"EAGLE draft {_short(eagle_place)}", 0.96)
            _load_eagle(family, strategy, Path(eagle_place).expanduser())
    return family


def _load_eagle(family: Family, strategy: str, folder: Path) -> None:
    target = family.target
    weights = read_eagle(folder, TargetShape(target.hidden, target.vocab_size, target.depth))
    config = weights.config
    if strategy == "eagle1" and config.version != "eagle1":
        raise InputError(f"--eagle1 {folder} is an EAGLE-3 draft: give it with --eagle")
    family.eagles[strategy] = head_on(weights, target)
    target.keeps_features = True  # so that a prefill can be shared with this lane
    if config.taps:
        target.tap(config.taps)
    facts = (f"dialect {weights.dialect}", *weights.notes)
    if config.taps:
        facts = (*facts, f"reads the inputs of layers {', '.join(map(str, config.taps))}")
    family.notes[strategy] = "; ".join(facts)


def load_model(place: str, options: ModelOptions) -> Any:
    """A causal LM from a folder or the hub, or InputError with the line for the user."""
    disable_progress_bar()  # its bars would be drawn over the screen
    set_verbosity_error()
    _refuse_missing(place)
    device = _device(options.device)
    kwargs: dict[str, Any] = {"dtype": _dtype(options.dtype, device)}
    if options.quantize == "int8":
        kwargs["quantization_config"] = BitsAndBytesConfig(load_in_8bit=True)
    elif options.quantize == "nf4":
        kwargs["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4"
        )
    if device != "cpu":
        kwargs["device_map"] = {"": device}
    try:
        return AutoModelForCausalLM.from_pretrained(
            place, trust_remote_code=options.trust_remote_code, **kwargs
        )
    except torch.cuda.OutOfMemoryError as error:
        raise InputError(
            f"{_short(place)} does not fit into the memory of {device}: try --quantize nf4"
        ) from error
    except Exception as error:  # a hub, a file system and a pickle raise a hundred kinds
        raise InputError(f"can't load the model {place}: {_first_line(error)}") from error


def load_tokenizer(place: str, options: ModelOptions) -> PreTrainedTokenizerBase:
    _refuse_missing(place)
    try:
        return AutoTokenizer.from_pretrained(place, trust_remote_code=options.trust_remote_code)
    except Exception as error:
        raise InputError(f"can't load the tokenizer of {place}: {_first_line(error)}") from error


def _load_draft(
    place: str, options: ModelOptions, tokenizer: PreTrainedTokenizerBase, target: Target
) -> Target:
    draft_tokenizer = load_tokenizer(place, options)
    difference = first_difference(tokenizer, draft_tokenizer)
    if difference:
        raise InputError(
            f"the draft {place} speaks another vocabulary than the target: {difference}; "
            "use a draft model with the target's tokenizer"
        )
    draft = Target(load_model(place, options))
    if draft.vocab_size < len(tokenizer):
        raise InputError(
            f"the draft {place} has {draft.vocab_size} logits for {len(tokenizer)} tokens"
        )
    return draft


def _demo_heads(name: str) -> str | None:
    folder = assets() / "demo" / name
    return str(folder) if folder.is_dir() else None


def _refuse_missing(place: str) -> None:
    """A path that is not there would otherwise be looked up on the hub."""
    looks_local = place.startswith((".", "/", "~")) or place.count("/") > 1 or os.sep == "\\"
    folder = Path(place).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise InputError(f"{place} has no config.json: give a Hugging Face model folder")
    elif looks_local:
        raise InputError(f"no folder {place}: give a Hugging Face model folder or a hub id")


def _device(wanted: str) -> str:
    if wanted == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    kind, _, index = wanted.partition(":")
    if kind == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda: torch sees no CUDA GPU here; use --device cpu")
    if kind == "cuda" and index and int(index) >= torch.cuda.device_count():
        raise InputError(f"--device {wanted}: there are {torch.cuda.device_count()} GPUs")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise InputError("--device mps: torch sees no Apple GPU here; use --device cpu")
    return wanted


def _dtype(wanted: str, device: str) -> Any:
    if wanted == "auto":
        return torch.float32 if device == "cpu" else "auto"
    return getattr(torch, wanted)


def _generation_settings(
    target: Target, tokenizer: PreTrainedTokenizerBase
) -> tuple[tuple[str, ...], frozenset[int]]:
    """What the model's generation_config asks for: its EOS ids, and processors that we ignore."""
    wanted: GenerationConfig | None = target.model.generation_config
    eos = getattr(wanted, "eos_token_id", None)
    if eos is None:
        eos = target.config.eos_token_id if target.config.eos_token_id is not None else []
    ids = set(eos if isinstance(eos, (list, tuple)) else [eos])
    if not ids and tokenizer.eos_token_id is not None:
        ids.add(tokenizer.eos_token_id)
    neutral = {
        "repetition_penalty": 1.0,
        "no_repeat_ngram_size": 0,
        "encoder_repetition_penalty": 1.0,
        "bad_words_ids": None,
        "suppress_tokens": None,
        "begin_suppress_tokens": None,
        "sequence_bias": None,
        "forced_bos_token_id": None,
        "forced_eos_token_id": None,
        "min_length": 0,
        "min_new_tokens": None,
    }
    ignored = tuple(
        name for name, off in neutral.items() if getattr(wanted, name, off) not in (off, None)
    )
    return ignored, frozenset(int(i) for i in ids)


def _ids(encoded: Any) -> list[int]:
    return [int(i) for i in encoded["input_ids"]]


def _short(place: str) -> str:
    return Path(place).name if Path(place).is_dir() else place


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
