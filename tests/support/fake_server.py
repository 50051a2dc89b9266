"""A serving engine of every kind, good and bad: the first part of the path says which.

`python -m tests.support.fake_server` prints its port. It speaks HTTP by hand, to break it where a
library would not.
"""

from __future__ import annotations

import json
import socketserver
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from tests.support.hostile import HOSTILE

KEY = "sesame-0123"
PIECES = ("The", " fox", " sleeps", ".")
COUNTED = {"completion_tokens": 11, "prompt_tokens": 3}  # more than there are pieces
TRANSFORMERS_PATHS = ("/v1/chat/completions", "/load_model", "/reset", "/health")
# What they say of 10 tokens after the first: 4 passes of 3 drafts; 0, 1, 2 and 3 were accepted.
ACCEPTANCE: dict[str, dict[str, Any]] = {
    "vllm": {
        "metrics": {
            "speculative_decoding": {
                "mean_acceptance_length": 2.5,
                "draft_acceptance_rate": 0.5,
                "acceptance_histogram": {"0": 1, "1": 1, "2": 1, "3": 1},
                "num_spec_steps": 4,
                "num_accepted_draft_tokens": 6,
                "num_draft_tokens": 12,
                "num_spec_tokens": 3,
            }
        }
    },
    "sglang": {
        "sglext": {
            "spec_accept_rate": 0.5,
            "spec_accept_length": 2.75,
            "spec_num_correct_drafts": 6,
            "spec_num_proposed_drafts": 12,
            "spec_verify_ct": 4,
            "spec_correct_drafts_histogram": [1, 1, 1, 1],
        }
    },
    "llamacpp": {"timings": {"predicted_n": 11, "draft_n": 12, "draft_n_accepted": 6}},
    "lmstudio": {"stats": {"total_draft_tokens_count": 12, "accepted_draft_tokens_count": 6}},
    "tensorrt": {"choices": [{"index": 0, "delta": {}, "avg_decoded_tokens_per_iter": 2.75}]},
}
COUNTERS = """\
# HELP vllm:spec_decode_num_drafts_total Number of drafts.
vllm:spec_decode_num_drafts_total{{engine="0",model_name="fox"}} {drafts}
vllm:spec_decode_num_draft_tokens_total{{engine="0",model_name="fox"}} {draft_tokens}
vllm:spec_decode_num_accepted_tokens_total{{engine="0",model_name="fox"}} {accepted}
vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine="0",position="0"}} {pos0}
vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine="0",position="1"}} {pos1}
vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine="0",position="2"}} {pos2}
vllm:generation_tokens_total{{engine="0",model_name="fox"}} {generated}
"""


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.asked = Counter[str]()  # questions by kind of server
        self.listed = Counter[str]()  # requests of the list of models
        self.answered = Counter[str]()
        self.left = Counter[str]()  # clients that hung up before the end
        # When the first and the last piece of each paced answer were sent, in seconds.
        self.spans = defaultdict[str, list[tuple[float, float]]](list)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is none of ours to report."""


class Handler(socketserver.StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        method, path, _ = self.rfile.readline().decode().split(" ", 2)
        headers = {}
        while line := self.rfile.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", 0)))
        kind, _, rest = path.lstrip("/").partition("/")
        if method == "GET":
            self.tell(kind, rest)
        else:
            self.server.asked[kind] += 1
            answer = getattr(self, kind.partition("-")[0], None) or self.plain
            try:
                answer(kind, json.loads(body), headers)
                self.server.answered[kind] += 1
            except OSError:
                self.server.left[kind] += 1

    # What a server says of itself

    def tell(self, kind: str, path: str) -> None:
        first, _, engine = kind.rpartition("-")
        if path == "metrics" and (first or kind) in ("counters", "shared"):
            n = self.server.answered[kind]
            others = n * 100 if "shared" in kind else 0
            sums = {"drafts": 4 * n, "draft_tokens": 12 * n, "accepted": 6 * n}
            positions = {"pos0": 3 * n, "pos1": 2 * n, "pos2": n}
            text = COUNTERS.format(**sums, **positions, generated=11 * n + others)
            self.reply(200, text, "text/plain")
        elif path in ("left", "asked", "spans"):
            self.reply(200, json.dumps(getattr(self.server, path)[kind]))
        elif path == "openapi.json" and engine == "transformers":
            self.reply(200, json.dumps({"paths": dict.fromkeys(TRANSFORMERS_PATHS)}))
        elif path != "v1/models" or kind == "nolist":
            self.reply(404, "not here")
        elif kind == "mute":
            time.sleep(60)
        elif first.startswith("loads") and self.is_loading(kind):
            self.reply(503, json.dumps({"error": {"message": "Loading model"}}))
        else:
            owners = {"sglang": "sglang", "llamacpp": "llamacpp", "transformers": "Fox"}
            owner = owners.get(engine, "vllm")
            model = {"id": "fox-1b", "owned_by": owner, "max_model_len": 2048}
            model |= {"id": HOSTILE} if kind == "escapes" else {}
            self.reply(200, json.dumps({"data": [model, {"id": "fox-2b"}]}))

    def is_loading(self, kind: str) -> bool:
        """Whether `loads-TEST-3`, which is ready at the third request, still loads its model."""
        self.server.listed[kind] += 1
        return self.server.listed[kind] < int(kind.rpartition("-")[2])

    # Good answers

    def plain(self, kind: str, asked: Any, headers: Any) -> None:
        for piece in PIECES:
            self.say(piece)
        self.complete(**ACCEPTANCE.get(kind.rpartition("-")[2], {}))

    def tensorrt(self, kind: str, asked: Any, headers: Any) -> None:
        for piece in PIECES:
            self.say(piece)
        self.event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        self.event({**ACCEPTANCE[kind], "usage": COUNTED})
        self.done()

    def nousage(self, kind: str, asked: Any, headers: Any) -> None:
        for piece in PIECES:
            self.say(piece)
        self.event({"choices": [{"delta": {}, "finish_reason": "length"}]})
        self.done()

    def paced(self, kind: str, asked: Any, headers: Any) -> None:
        """paced-COUNT-MILLISECONDS: a token each, by an absolute clock."""
        count, pause = (int(part) for part in kind.split("-")[1:])
        begun = time.perf_counter()
        for number in range(count):
            time.sleep(max(begun + number * pause / 1000 - time.perf_counter(), 0.0))
            self.say(f" {number}")
        self.server.spans[kind].append((begun, time.perf_counter()))
        self.complete(usage={"completion_tokens": count, "prompt_tokens": 3})

    def echo(self, kind: str, asked: Any, headers: Any) -> None:
        self.say(json.dumps(asked))
        self.complete()

    def counting(self, kind: str, asked: Any, headers: Any) -> None:
        for piece, tokens in zip(PIECES, (1, 4, 8, 11), strict=True):
            chunk = {"choices": [{"delta": {"content": piece}}]}
            self.event(chunk | {"usage": {"completion_tokens": tokens}})
        self.complete()

    def reasons(self, kind: str, asked: Any, headers: Any) -> None:
        for piece in ("a fox", " rests"):
            self.event({"choices": [{"delta": {"reasoning_content": piece}}]})
        self.say("It sleeps.")
        self.complete()

    def empty(self, kind: str, asked: Any, headers: Any) -> None:
        self.complete()

    def picky(self, kind: str, asked: Any, headers: Any) -> None:
        if "stream_options" in asked:
            self.reply(422, json.dumps({"detail": "Unexpected fields: stream_options"}))
        else:
            self.plain(kind, asked, headers)

    def locked(self, kind: str, asked: Any, headers: Any) -> None:
        given = headers.get("authorization", "")
        if given == f"Bearer {KEY}":
            self.plain(kind, asked, headers)
        else:
            self.reply(401, json.dumps({"error": {"message": f"Wrong key: {given}"}}))

    def busy(self, kind: str, asked: Any, headers: Any) -> None:
        if self.server.asked[kind] % 3:
            self.reply(503, "loading")
        else:
            self.plain(kind, asked, headers)

    def flaky(self, kind: str, asked: Any, headers: Any) -> None:
        """Each question is answered when it is asked for the fourth time."""
        question = json.dumps(asked["messages"])
        self.server.asked[question] += 1
        match self.server.asked[question]:
            case 1:
                self.status("status-429", asked, headers)
            case 2:
                self.status("status-500", asked, headers)
            case 3:
                self.dies(kind, asked, headers)
            case _:
                self.plain(kind, asked, headers)

    def tires(self, kind: str, asked: Any, headers: Any) -> None:
        """`tires-3` answers three times."""
        if self.server.asked[kind] > int(kind.split("-")[1]):
            self.reply(500, json.dumps({"error": {"message": "the GPU is gone"}}))
        else:
            self.plain(kind, asked, headers)

    def strict(self, kind: str, asked: Any, headers: Any) -> None:
        """Long prompts are refused."""
        if len(json.dumps(asked["messages"])) > 500:
            self.reply(400, json.dumps({"error": {"message": "the prompt is too long"}}))
        else:
            self.echo(kind, asked, headers)

    def late(self, kind: str, asked: Any, headers: Any) -> None:
        """Long prompts are refused when the stream has begun."""
        if len(json.dumps(asked["messages"])) > 500:
            self.event({"error": {"message": "the prompt is too long", "code": 400}})
            self.done()
        else:
            self.echo(kind, asked, headers)

    def chokes(self, kind: str, asked: Any, headers: Any) -> None:
        """At long prompts it always fails."""
        if len(json.dumps(asked["messages"])) > 500:
            self.reply(500, json.dumps({"error": {"message": "an assertion failed"}}))
        else:
            self.echo(kind, asked, headers)

    def silentend(self, kind: str, asked: Any, headers: Any) -> None:
        """All is said, and the connection just stays."""
        self.say("The end")
        self.event({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": COUNTED})
        time.sleep(60)

    # Bad ones

    def status(self, kind: str, asked: Any, headers: Any) -> None:
        self.reply(int(kind.split("-")[1]), json.dumps({"error": {"message": f"no {HOSTILE}"}}))

    def moved(self, kind: str, asked: Any, headers: Any) -> None:
        self.write(
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"
        )

    def dies(self, kind: str, asked: Any, headers: Any) -> None:
        self.say("Half a")
        self.write(b"50\r\ndata: {")

    def stops(self, kind: str, asked: Any, headers: Any) -> None:
        """Chunks that end well, and an answer that does not."""
        self.say("Half a")
        self.write(b"0\r\n\r\n")

    def capitals(self, kind: str, asked: Any, headers: Any) -> None:
        """Media types are the same in any case."""
        self.write(b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; Charset=UTF-8\r\n")
        self.write(b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        self.started = True
        self.plain(kind, asked, headers)

    def marked(self, kind: str, asked: Any, headers: Any) -> None:
        """UTF-8 with a byte order mark, and called something else."""
        self.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=latin-1\r\n")
        self.write(b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        self.started = True
        self.chunk(b"\xef\xbb")
        self.chunk('\ufeffdata: {"choices": [{"delta": {"content": "é"}}]}\n\n'.encode()[2:])
        self.complete()

    def closes(self, kind: str, asked: Any, headers: Any) -> None:
        """Before a word of HTTP."""

    def mute(self, kind: str, asked: Any, headers: Any) -> None:
        time.sleep(60)

    def stalls(self, kind: str, asked: Any, headers: Any) -> None:
        self.say("Half a")
        time.sleep(60)

    def babbles(self, kind: str, asked: Any, headers: Any) -> None:
        self.forever(lambda: self.event({"choices": [{"delta": {}}]}))

    def comments(self, kind: str, asked: Any, headers: Any) -> None:
        self.start()
        self.forever(lambda: self.chunk(b": ping\n\n"))

    def endless(self, kind: str, asked: Any, headers: Any) -> None:
        self.forever(lambda: self.say(" on"))

    def longline(self, kind: str, asked: Any, headers: Any) -> None:
        self.start()
        self.forever(lambda: self.chunk(b"x" * 65536))

    def chunks(self, kind: str, asked: Any, headers: Any) -> None:
        self.say("Half a")
        self.write(b"zzz\r\nno length\r\n")

    def nojson(self, kind: str, asked: Any, headers: Any) -> None:
        self.say("Half a")
        self.chunk(f"data: {{{HOSTILE}\n\n".encode())

    def array(self, kind: str, asked: Any, headers: Any) -> None:
        self.start()
        self.chunk(b"data: [1, 2]\n\n")

    def deep(self, kind: str, asked: Any, headers: Any) -> None:
        self.start()
        self.chunk(b"data: " + b"[" * 200_000 + b"\n\n")

    def odd(self, kind: str, asked: Any, headers: Any) -> None:
        """JSON of all the wrong types."""
        deltas = [{"delta": 3}], [{"delta": {"content": 3}}]
        values: list[Any] = [None, 3, "x", [], {}, [3], [None], *deltas]
        for value in values:
            self.event({"choices": value, "usage": value, "timings": value, "metrics": value})
        self.plain(kind, asked, headers)

    def page(self, kind: str, asked: Any, headers: Any) -> None:
        self.reply(200, "<html>welcome</html>", "text/html")

    def breaks(self, kind: str, asked: Any, headers: Any) -> None:
        self.say("Half a")
        self.event({"error": {"message": f"out of memory {HOSTILE}"}})

    def escapes(self, kind: str, asked: Any, headers: Any) -> None:
        self.say(HOSTILE)
        self.chunk(b'data: {"choices": [{"delta": {"content": "\\ud800 lone"}}]}\n\n')
        self.complete()

    # HTTP

    started = False

    def start(self) -> None:
        if not self.started:
            self.started = True
            self.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n")
            self.write(b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")

    def chunk(self, data: bytes) -> None:
        self.write(b"%x\r\n%s\r\n" % (len(data), data))

    def event(self, chunk: Any) -> None:
        self.start()
        self.chunk(f"data: {json.dumps(chunk)}\n\n".encode())

    def say(self, text: str) -> None:
        self.event({"choices": [{"index": 0, "delta": {"content": text}, "text": text}]})

    def complete(self, **more: Any) -> None:
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.event({"choices": [], "usage": COUNTED, **more})
        self.done()

    def done(self) -> None:
        self.chunk(b"data: [DONE]\n\n")
        self.write(b"0\r\n\r\n")

    def forever(self, act: Callable[[], None]) -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            act()
            time.sleep(0.002)

    def reply(self, status: int, text: str, kind: str = "application/json") -> None:
        data = text.encode()
        head = f"HTTP/1.1 {status} \r\nContent-Type: {kind}\r\nConnection: close\r\n"
        self.write(head.encode() + b"Content-Length: %d\r\n\r\n" % len(data) + data)

    def write(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()


if __name__ == "__main__":
    with Server() as server:
        print(server.server_address[1], flush=True)
        sys.stdout.close()
        server.serve_forever()
