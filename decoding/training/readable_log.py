"""One line per report of a training, and the file that `training_log` reads."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from decoding.training.log import LOG, losses, rates, time_left


class ReadableLog(TrainerCallback):
    """Writes one line per report to stderr and, as JSON for `training_log`, beside the
    checkpoints."""

    def __init__(self, describe: Callable[[Mapping[str, Any]], str], stage: str) -> None:
        self._describe = describe
        self._stage = stage
        self._began = (0, 0.0)  # step, time
        self._learning_since = 0.0
        self._tokens = 0
        self._learned = 0.0  # seconds, without those of evaluations

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        self._learning_since = time.monotonic()
        self._began = (state.global_step, self._learning_since)

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        self._learning_since = time.monotonic()
        if state.global_step == self._began[0]:
            self._began = (state.global_step, self._learning_since)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: Mapping[str, Any] | None = None,
        **kwargs: object,
    ) -> None:
        if not state.is_world_process_zero or not logs:
            return
        step, steps = state.global_step, state.max_steps
        entry: dict[str, Any] = {"time": time.time(), "step": step, "steps": steps}
        entry |= {"stage": self._stage} if self._stage else {}
        if "loss" in logs:
            entry |= {"loss": logs["loss"], "tokens": logs["tokens"]}
            for name, by_head in (("losses", "loss_"), ("accuracy", "accuracy_")):
                entry[name] = [value for key, value in logs.items() if key.startswith(by_head)]
            line = f"step {step}/{steps} · {self._line(state, entry, logs['learning_rate'])}"
        elif "eval_loss" in logs:
            words, served = self._describe(logs), logs.get("eval_served")
            words += "" if served is None else f" · served τ {served:.2f}"
            line = f"step {step} held out · {words}"
            entry |= {"held_out": words, "served": served}
        else:
            return
        print(line, file=sys.stderr, flush=True)
        work = Path(str(args.output_dir))
        work.mkdir(parents=True, exist_ok=True)
        with (work / LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def _line(self, state: TrainerState, entry: Mapping[str, Any], lr: float) -> str:
        first, began = self._began
        now = time.monotonic()
        self._tokens += entry["tokens"]
        self._learned += now - self._learning_since
        self._learning_since = now
        left = (now - began) / max(state.global_step - first, 1)
        left *= state.max_steps - state.global_step
        rate = self._tokens / self._learned
        return (
            f"loss {losses(entry)} · right {rates(entry['accuracy'])} · lr {lr:.1e} · "
            f"{rate:,.0f} tokens/s · {time_left(left, self._stage)}"
        )
