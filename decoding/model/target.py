"""The model backend that all strategies share: prefill a prompt, verify a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from decoding.device import upload
from decoding.errors import InputError
from decoding.model import attention
from decoding.model.architecture import context_of, require_supported, window_of
from decoding.model.attention import additive_mask
from decoding.model.cache import TreeCache
from decoding.model.forward import Forward, ForwardOutput, Mask
from decoding.model.graphs import GraphForward, recorder_for
from decoding.model.kv_precision import KV_QUANTIZERS
from decoding.model.lean import LeanForward
from decoding.model.linears import Linear
from decoding.model.llama_shaped import is_llama_shaped, lean_forward
from decoding.model.output_head import scaled_logits
from decoding.model.recurrent import RecurrentCache
from decoding.model.transformers_forward import TransformersForward
from decoding.params import KVCacheDtype
from decoding.trees.draft import DraftTree
from decoding.trees.shape import TreeShape, chain

PREFILL_CHUNK = 512
# On CUDA launching a pass takes longer than computing 512 rows; all but the first chunk need a
# mask.
PREFILL_CHUNK_CUDA = 2048
MASK_ELEMENTS = 2**28  # of a pass over a part of a prompt, at most: half a gigabyte in 16 bits

# Fields of configs with the number of experts of a layer.
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")

# Largest distance of a lean forward's logits from transformers', relative to the norm of these. In
# half precision it grows with the square root of the number of layers, as rounding errors do.
TOLERANCE, TOLERANCE_HALF = 1e-4, 2e-2


class Target:
    """A decoder-only model with explicit masks, positions and cache. Batch size 1.

    If it is `recurrent`, some layers have a state, and only chains can be verified. Raises
    InputError for models that can't be run with this cache and attention, and for those without
    position ids (ALiBi).

    The model stays usable by itself: only its attention implementation is replaced by one that
    takes trees' masks, too. On CUDA, cuDNN's attention is turned off for the process. What the
    model computes in single passes, and in trees, is not checked here: `decoding.self_test` does.
    """

    def __init__(self, model: PreTrainedModel, graphs: bool = True) -> None:
        """`graphs`: replay short passes as CUDA graphs, if available and faster."""
        self.model = model.eval()
        self.config: Any = model.config.get_text_config(decoder=True)
        require_supported(model, self.config)
        ours = self._set_attention()
        # Where the class applies another one, `decoding.self_test` ends the context with it.
        self.window = window_of(self.config)
        self.dtype: torch.dtype = model.dtype
        self.device = torch.device(model.get_input_embeddings().weight.device)  # type: ignore[arg-type]
        if self.device.type == "cuda":
            # cuDNN's attention makes a plan for every new length, and here every pass has one.
            torch.backends.cuda.enable_cudnn_sdp(False)
        self.context = context_of(self.config)
        # True if a decoder's drafter needs every row's features: shared prefills then keep all.
        self.keeps_features = False
        self.kv_cache: KVCacheDtype = "none"  # the precision of new caches
        self.aux_layers: tuple[int, ...] = ()
        known = is_llama_shaped(model)  # before the hooks of the next line are on it
        forward = TransformersForward(model, self.device)
        self._forward: Forward = forward
        self.recurrent = bool(forward.states)
        self.hidden_size = forward.width  # of the features
        self.vocab_size = forward.vocab_size
        # Ids from here on are padding, and never sampled.
        self.unpadded_vocab_size = forward.vocab_size
        self._bias: tuple[Tensor, Tensor] | None = None  # ids and what is added to their logits
        self._group_size = self._find_group_size() if ours else 1
        self.recorder = recorder_for(self.device) if graphs else None
        if known and self._agrees_with(lean := lean_forward(model)):
            forward.remove_hooks()
            self._forward = lean
            if self.recorder is not None and self._agrees_with(
                replayed := GraphForward(lean, self._group_size, self.recorder)
            ):
                self._forward = replayed

    @property
    def nbytes(self) -> int:
        """Bytes of the weights, including packed copies."""
        packed = sum(linear.packed_nbytes for _, linear in self.linears)
        return int(self.model.get_memory_footprint()) + packed

    @property
    def bytes_per_pass(self) -> int | None:
        """Bytes of the weights that one token's pass reads; None if it reads only some
        (experts)."""
        if any(getattr(self.config, name, None) for name in EXPERTS):
            return None
        weights = {id(weight): weight for weight in self.model.parameters()}
        model: Any = self.model
        looked_up = model.get_input_embeddings().weight
        if model.get_output_embeddings().weight is not looked_up:
            weights.pop(id(looked_up), None)
        saved = sum(linear.nbytes - linear.bytes_per_row for _, linear in self.linears)
        return sum(int(weight.nbytes) for weight in weights.values()) - saved

    @property
    def linears(self) -> Sequence[tuple[str, Linear]]:
        """The linears with a variable layout (`decoding.model.layouts`), each with its kind; () if
        transformers' modules run."""
        return self._forward.linears

    @property
    def lean(self) -> LeanForward | None:
        """The lean forward, also that of which graphs are recorded; None if transformers' modules
        run."""
        forward = self._forward
        if isinstance(forward, GraphForward):
            return forward.lean
        return forward if isinstance(forward, LeanForward) else None

    def prefill_chunks(self, past: int, rows: int, group_size: int) -> Iterator[slice]:
        """Yield the rows of each pass over a prompt of `rows` after `past` rows: fewer where their
        mask, [group_size * n, past + n], would be too large."""
        most = PREFILL_CHUNK_CUDA if self.device.type == "cuda" else PREFILL_CHUNK
        start = 0
        while start < rows:
            before = past + start
            room = MASK_ELEMENTS // (group_size * (before + most)) if before else most
            end = min(start + min(most, max(room, 1)), rows)
            yield slice(start, end)
            start = end

    def new_cache(self, capacity: int = 256) -> TreeCache:
        """Make an empty cache for one sequence, with the present `kv_cache`."""
        forward = self._forward
        room = (self.dtype, forward.devices, capacity, KV_QUANTIZERS[self.kv_cache])
        if self.recurrent:
            return RecurrentCache(forward.layers, forward.states, *room)
        return TreeCache(forward.layers, *room)

    @property
    def layer_width(self) -> int:
        """Width of the layers' inputs; in some models not that of the features."""
        return int(self.config.hidden_size)

    @property
    def num_layers(self) -> int:
        return len(self._forward.layers)

    def capture_layers(self, layers: Sequence[int]) -> None:
        """Make every pass also return the inputs of these layers (0 is the first), Hugging Face's
        `hidden_states[i]`, in this order, after those captured before. Raises InputError for layers
        that don't exist."""
        for layer in layers:
            if not 0 <= layer < self.num_layers:
                raise InputError(
                    f"the draft reads the input of layer {layer}, the target has layers 0 to "
                    f"{self.num_layers - 1}: it was made for another model"
                )
        self.aux_layers += tuple(layer for layer in layers if layer not in self.aux_layers)
        self._forward.capture_layers(self.aux_layers)

    def release_features(self) -> None:
        """Stop keeping and returning what EAGLE heads read: there are none any more."""
        self.keeps_features, self.aux_layers = False, ()
        self._forward.capture_layers(())

    def set_logit_bias(self, bias: Mapping[int, float]) -> None:
        """Add a bias to the logits of these ids in every pass, before anything else, as `generate`
        does with `sequence_bias`. It does not depend on the context, so verification stays
        exact."""
        ids = torch.tensor(list(bias), dtype=torch.long, device=self.device)
        values = torch.tensor(list(bias.values()), dtype=torch.float32, device=self.device)
        self._bias = (ids, values) if bias else None

    def logits(self, features: Tensor) -> Tensor:
        """Compute the logits [n, V] of features [n, H] as the model itself does, final scale or
        softcap included."""
        return scaled_logits(self.config, self.lm_head(features))

    def lm_head(self, features: Tensor) -> Tensor:
        """Compute the logits [n, V] of features [n, H] without the final scale or softcap of some
        models, which do not change the order of the tokens."""
        return self._forward.lm_head(features)

    @torch.inference_mode()
    def prefill(
        self,
        cache: TreeCache,
        ids: Sequence[int],
        cancelled: Callable[[], bool] = lambda: False,
        keep_features: bool = False,
    ) -> ForwardOutput:
        """Append `ids` (one or more) to the cache's rows, in chunks, and commit them.

        `features` and `aux_hidden_states` are those of all new rows with `keep_features`, else of
        the last chunk. Raises InterruptedError between two chunks when `cancelled()`; the rows so
        far are kept.
        """
        cache.reserve(cache.length + len(ids))
        chunks: list[ForwardOutput] = []
        for rows in self.prefill_chunks(cache.length, len(ids), self._group_size):
            if cancelled():
                raise InterruptedError
            part = DraftTree.of_chain(ids[rows], self.device)
            chunk = self._run(cache, part, last_only=True)
            cache.commit(len(part))
            chunks = [*chunks, chunk] if keep_features else [chunk]
        last = chunks[-1]
        if len(chunks) == 1:
            return last
        aux = [c.aux_hidden_states for c in chunks if c.aux_hidden_states is not None]
        return ForwardOutput(
            last.logits,
            torch.cat([chunk.features for chunk in chunks]),
            torch.cat(aux) if aux else None,
        )

    @torch.inference_mode()
    def forward(self, cache: TreeCache, tree: DraftTree) -> ForwardOutput:
        """Run the tree's nodes after the cache's rows. Their rows are written, but not committed,
        also the root's."""
        if self.recurrent and not tree.is_chain:
            raise ValueError("recurrent layers can't verify a tree")
        if len(tree) > 1:
            cache.checkpoint(len(tree))
        return self._run(cache, tree)

    def _run(self, cache: TreeCache, tree: DraftTree, last_only: bool = False) -> ForwardOutput:
        cache.begin(len(tree))
        past = cache.length
        if tree.is_chain:
            positions = torch.arange(past, past + len(tree), device=self.device)
        else:
            positions = tree.tensors.depths + past
        mask = self.mask(past, tree, positions)
        result = self._forward(tree.tokens, positions, mask, cache, last_only)
        if self._bias is not None:
            ids, values = self._bias
            logits = result.logits.float()  # half precision would round the sum
            result = replace(
                result, logits=logits.index_add(-1, ids, values.expand(len(logits), -1))
            )
        if self.unpadded_vocab_size < self.vocab_size:
            result.logits[:, self.unpadded_vocab_size :] = -torch.inf
        return result

    @torch.inference_mode()
    def _agrees_with(self, other: Forward) -> bool:
        """Whether another forward of the model computes the same logits as the present one, after a
        prompt and at the nodes of two trees of the same shape."""
        prompt = upload([token % self.vocab_size for token in (1, 5, 2, 7)], self.device)
        shape = TreeShape((-1, 0, 0, 1, 2))
        logits: list[Tensor] = []
        mine = self._forward
        for self._forward in (mine, other):
            cache = self.new_cache(16)
            passes = [self._run(cache, DraftTree(chain(len(prompt) - 1), prompt)).logits]
            for tokens in (prompt.repeat(2), prompt.flip(0).repeat(2)):
                cache.commit(len(prompt))
                passes.append(self._run(cache, DraftTree(shape, tokens[: len(shape)])).logits)
            logits.append(torch.cat(passes).float())
        self._forward = mine
        exact = self.dtype == torch.float32
        tolerance = TOLERANCE if exact else TOLERANCE_HALF * self.num_layers**0.5
        return bool((logits[0] - logits[1]).norm() <= tolerance * logits[0].norm())

    def mask(self, past: int, tree: DraftTree, positions: Tensor) -> Mask:
        """Make the additive mask [1, 1, group_size * n, past + n]; None if every row sees all rows
        before it.

        A tree's rows see the whole prefix, their ancestors and themselves. Windows compare
        positions, not rows: siblings share a position, and rows are never dropped from the
        cache.
        """
        rows = len(tree)
        window = self.window
        windowed = window is not None and past + rows > window.size
        if not windowed and (rows == 1 or (past == 0 and tree.is_chain)):
            return None
        tree_mask = tree.tensors.mask
        full = additive_mask(past, tree_mask, self.dtype, self._group_size)
        if window is None or not windowed:
            return full
        keys = torch.cat([torch.arange(past, device=self.device), positions])
        far = window.hides(positions, keys)
        mixed = window.layer_type is not None
        near = additive_mask(past, tree_mask, self.dtype, self._group_size) if mixed else full
        near.unflatten(2, (-1, rows)).masked_fill_(far, torch.finfo(self.dtype).min)
        if window.layer_type is None:
            return near
        return {
            kind: near if kind == window.layer_type else full if kind == "full_attention" else None
            for kind in self.config.layer_types
        }

    @contextmanager
    def as_loaded(self) -> Iterator[PreTrainedModel]:
        """Give the model its original attention within a `with` block, for transformers' own
        `generate`."""
        ours = str(self.model.config._attn_implementation)
        self.model.set_attn_implementation(self._attention_loaded)
        try:
            yield self.model
        finally:
            self.model.set_attn_implementation(ours)

    def _set_attention(self) -> bool:
        """Use this library's attention if the model's class supports it; others keep their own."""
        ours = bool(getattr(self.model, "_supports_attention_backend", False))
        self._attention_loaded = str(self.model.config._attn_implementation)
        self.model.set_attn_implementation(attention.NAME if ours else "eager")
        return ours

    def _find_group_size(self) -> int:
        """The number of query heads folded into a mask's rows: the group size of a key head, from
        the cache's shapes (the config may differ). If layers differ it is 1, and each layer folds
        the mask itself."""
        kv_heads = {layer.kv_heads for layer in self._forward.layers if layer is not None}
        if len(kv_heads) != 1:
            return 1
        return max(int(self.config.num_attention_heads) // kv_heads.pop(), 1)
