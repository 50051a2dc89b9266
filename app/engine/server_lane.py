"""A lane whose answers come from a server, as pieces of text."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from app.engine.events import PIECE, LaneInfo
from app.servers.answer import Ending, Piece
from app.servers.client import Server, ServerInfo
from app.servers.event_loop_thread import EventLoopThread
from app.servers.protocol import Question
from app.servers.usage import Usage, with_reported_counts
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from app.text.token_event import TokenEvent
from decoding.errors import InputError
from decoding.params import Params
from decoding.round import Round, TokenFate
from decoding.stats import Stats

if TYPE_CHECKING:
    from decoding.decoder import FinishReason

POLL_INTERVAL = 0.05  # seconds: how often a waiting caller checks whether it is cancelled
SILENT_SECONDS = 10.0  # without a piece; then the next lane of a fair schedule begins


class Arrival(NamedTuple):
    """A piece of an answer as a token; the first one has no round."""

    token: TokenEvent
    record: Round | None


class ServerLane:
    """Looks like a `Lane` to screen and reports: a piece of text is a token without an id, and the
    time between two pieces is a round. The counts of tokens, passes and drafts are those that the
    server reports at the end.

    `ask` begins an answer, which arrives in the background; `receive` returns what has arrived.
    """

    def __init__(
        self, spec: LaneSpec, loop_thread: EventLoopThread, server: Server | None = None
    ) -> None:
        """`server` is given to share the one of another lane, for simultaneous answers."""
        assert spec.endpoint is not None
        self.spec = spec
        self.strategy = STRATEGIES[spec.strategy]
        self.reason: str | None = None  # why it can't be asked
        self.server = server or Server(spec.endpoint)
        self.usage: Usage | None = None
        self.finished: FinishReason | None = None
        self.rounds: list[Round] = []
        self.text = ""
        self.ttft_seconds = 0.0
        self.note: str | None = None
        self.params = Params()  # of the answer
        self._alone = server is None
        self.loop_thread = loop_thread
        self._stats = Stats()
        self._answer: Future[Ending] | None = None
        self._arrived: deque[Piece] = deque()
        self._requested_at = self._last_at = self._heard_at = 0.0
        self._begun = False

    @property
    def available(self) -> bool:
        return self.reason is None

    @property
    def ids(self) -> list[int]:
        """Empty: pieces have no ids."""
        return []

    @property
    def tokens(self) -> int:
        return self._begun + self.stats.emitted

    @property
    def stats(self) -> Stats:
        return with_reported_counts(self._stats, self.usage)

    @property
    def target_passes(self) -> int:
        return self.stats.passes

    @property
    def prefill_seconds(self) -> None:
        """Not known: it is part of the time to first token, with the network's."""
        return None

    @property
    def draft_prefill_seconds(self) -> None:
        return None

    def info(self, enabled: bool) -> LaneInfo:
        return LaneInfo(
            name=self.spec.name,
            strategy=self.spec.strategy,
            title=self.spec.name,
            available=self.available,
            reason=self.reason,
            enabled=enabled,
            default_gamma=0,
            note=self._description(),
            overrides=self.spec.overrides,
            endpoint=self.spec.endpoint,
        )

    def _description(self) -> str:
        """The server's engine, model and address."""
        server = self.server
        info = server.info or ServerInfo()
        what = " · ".join(filter(None, (info.engine, server.model)))
        where = "on this machine, beside the other lanes" if server.here else "on another machine"
        first = f"{what}\n" if what else ""
        several = len(info.models) > 1 and server.endpoint.model is None
        more = f", the first of {len(info.models)} models (--server-model)" if several else ""
        return f"{first}{server.endpoint.url}, {where}{more}; settings act from its next request"

    def fresh_copy(self) -> ServerLane:
        """Make a lane for another answer of the same server, at the same time."""
        return ServerLane(self.spec, self.loop_thread, self.server)

    def fetch_info(self) -> Future[ServerInfo]:
        """Ask the server for its models; the future raises ServerError if it does not answer."""
        return self.loop_thread.submit(self.server.fetch_info())

    def disconnect(self) -> None:
        """Close the connections, without waiting for it. No call may follow."""
        self.loop_thread.submit(self.server.aclose())

    # An answer

    def reset(self) -> None:
        """Forget the last answer, and end it if it is running."""
        self.close()
        self.usage, self.finished, self.note = None, None, None
        self.rounds, self.text, self._stats, self._begun = [], "", Stats(), False
        self.ttft_seconds = 0.0

    def ask(self, question: Question, arrived: Callable[[], None] = lambda: None) -> None:
        """Begin an answer; `arrived` is called on another thread whenever there is more to take."""
        self.reset()
        self.params = self.spec.effective_params(question.params)
        self._heard_at = time.perf_counter()
        pieces = self._arrived = deque()

        def on_piece(piece: Piece) -> None:
            pieces.append(piece)
            self._heard_at = piece.at
            arrived()

        def on_request(at: float) -> None:
            self._requested_at = at

        question = replace(question, params=self.params)
        work = self.server.answer(question, on_piece, counters=self._alone, on_request=on_request)
        self._answer = self.loop_thread.submit(work)
        self._answer.add_done_callback(lambda _: arrived())

    @property
    def arrived(self) -> bool:
        """Whether there is anything to take, or the answer has ended."""
        return bool(self._arrived) or (self._answer is not None and self._answer.done())

    @property
    def silent(self) -> bool:
        """Whether nothing has arrived for SILENT_SECONDS."""
        return not self.arrived and time.perf_counter() - self._heard_at > SILENT_SECONDS

    def receive(self) -> list[Arrival]:
        """Return what has arrived. If the answer failed, raises ServerError after everything before
        the failure has been taken."""
        assert self._answer is not None
        ended = self._answer.done()  # read before the pieces: none arrives afterwards
        arrivals = []
        while self._arrived:
            arrivals.append(self._arrival_of(self._arrived.popleft()))
        if ended and not arrivals:
            ending = self._answer.result()
            self.usage, self.note, self.finished = ending.usage, ending.note, ending.reason
        return arrivals

    def _arrival_of(self, piece: Piece) -> Arrival:
        self.text += piece.text
        if not self._begun:
            self._begun, self._last_at = True, piece.at
            self.ttft_seconds = piece.at - self._requested_at
            return Arrival(TokenEvent(PIECE, piece.text, TokenFate.FIRST, -1), None)
        index = len(self.rounds)
        record = Round(
            index=index,
            tokens=(PIECE,),
            parents=(-1,),
            accepted=(),
            emitted=(PIECE,) * piece.tokens,
            tested=0,
            draft_seconds=0.0,
            verify_seconds=0.0,
            accept_seconds=0.0,
            total_seconds=piece.at - self._last_at,
            sampled=not self.params.sampling.greedy,
        )
        self._last_at = piece.at
        self.rounds.append(record)
        self._stats.add(record)
        return Arrival(TokenEvent(PIECE, piece.text, TokenFate.PLAIN, index), record)

    def generate(self, question: Question, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Get a whole answer. Raises InputError, ServerError, and InterruptedError when
        `cancelled()`."""
        if not question.messages:
            self.reset()
            raise InputError("a server takes text, not input_ids")
        more: SimpleQueue[None] = SimpleQueue()
        self.ask(question, lambda: more.put(None))
        try:
            while self.finished is None:
                if cancelled():
                    raise InterruptedError
                self.receive()
                if not self.arrived and self.finished is None:
                    with suppress(Empty):
                        more.get(timeout=POLL_INTERVAL)
        finally:
            self.close()

    def close(self) -> None:
        """End a running answer: closing the connection stops the server."""
        if self._answer is not None:
            self._answer.cancel()
            self._answer = None


def served_model(lanes: Sequence[ServerLane]) -> str:
    """Return the name of the first known model, for a session without local models."""
    return next((lane.server.model for lane in lanes if lane.server.model), lanes[0].spec.name)
