"""The conversation in assets/replay: the demo family's own, recorded with all probabilities.

python -m tests.app.history.record_demo assets/replay/demo.json
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

from app.config.settings import load_settings
from app.engine.commands import RecordProbabilities, Run
from app.engine.events import Event, Loaded, LoadFailed, RunFinished, RunRejected
from app.engine.session import Session
from app.engine.session_config import SessionConfig
from app.history.document import conversation_document
from app.history.recorder import Recorder
from app.history.store import Store
from app.report.document import settings_report

PROMPTS = (
    "What is speculative decoding?",
    "Who are you?",
)


def record(prompts: list[str], strategies: str, tokens: int) -> dict[str, object]:
    settings = load_settings({"strategies": strategies, "max_new_tokens": tokens, "seed": 1})
    session = Session(settings.models, settings.lanes, SessionConfig(settings.params, seed=1))
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Store(Path(folder)), settings_report(settings))

        def wait(*kinds: type[Event]) -> None:
            while True:
                events = session.drain()
                recorder.record(events)
                for event in events:
                    if isinstance(event, LoadFailed | RunRejected):
                        raise SystemExit(event.message)
                    if isinstance(event, kinds):
                        return
                time.sleep(0.05)

        session.open()
        wait(Loaded)
        session.send(RecordProbabilities(frozenset(spec.name for spec in settings.lanes)))
        for prompt in prompts:
            session.send(Run(prompt))
            wait(RunFinished)
        assert recorder.path
        return conversation_document(recorder.store.open(recorder.path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--prompt", action="append")
    parser.add_argument("--strategies", default="ar,draft,medusa,eagle")
    parser.add_argument("--max-new-tokens", type=int, default=64)
    args = parser.parse_args()
    document = record(args.prompt or list(PROMPTS), args.strategies, args.max_new_tokens)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    for run in document["runs"]:  # type: ignore[attr-defined]
        for lane in run["lanes"]:
            print(lane["lane"], lane["tokens_per_second"], lane["speedup"], lane["text"][:60])
    os._exit(0)  # the decode thread is not waited for


if __name__ == "__main__":
    main()
