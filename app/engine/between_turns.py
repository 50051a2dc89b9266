"""Work that waits until no round is being made: probabilities of finished answers, sampling tests,
advice. Each ends with an event, also when it fails, and makes room for turns."""

from __future__ import annotations

from dataclasses import replace

from app.engine.advice import advise
from app.engine.commands import ComputeProbabilities, StartAdvice, StartSamplingTest
from app.engine.conversation import Conversation
from app.engine.events import Advice, ProbabilitiesComputed, SamplingTest
from app.engine.lane import Lane
from app.engine.lanes import Lanes
from app.engine.mailbox import Mailbox
from app.engine.sampling_test import StartState, compare_with_target
from decoding.errors import InputError, describe


def compute_probabilities(answer: ComputeProbabilities, mailbox: Mailbox, lanes: Lanes) -> None:
    """Compute the probabilities of a finished answer. Any other request interrupts it, and it
    starts again later, unless it was dropped."""
    note = f"there is no lane {answer.lane}"
    computed = ProbabilitiesComputed(answer.lane, answer.run, note=note)
    try:
        for lane in lanes:
            if lane.spec.name == answer.lane and isinstance(lane, Lane):
                computed = lane.compute_probabilities(
                    answer, lambda: not mailbox.is_computing(answer)
                )
    except InterruptedError:
        return
    except Exception as error:  # the screen shows it, and the thread goes on
        computed = replace(computed, note=describe(error))
    with mailbox.wake:
        if mailbox.is_first(answer):
            mailbox.probabilities.popleft()
    mailbox.emit(computed)


def run_sampling_test(
    request: StartSamplingTest,
    mailbox: Mailbox,
    lanes: Lanes,
    conversation: Conversation,
    running: bool,
) -> None:
    """Run a sampling test on the last turn, during a pause of it (`running`) or after it, until it
    is done, or anything else is requested. It draws after an unfinished answer, else after the
    prompt."""
    try:
        lane = next((lane for lane in lanes if lane.spec.name == request.lane), None)
        if lane is None or not lane.available:
            raise InputError((lane and lane.reason) or f"there is no lane {request.lane}")
        if not isinstance(lane, Lane):
            raise InputError("this lane is a server: its next tokens can't be sampled one by one")
        context = conversation.last_context(lanes.models)
        said = context.unfinished.get(request.lane, ())
        ids = [*context.prompt_ids, *said]
        tree = mailbox.trees.get(request.lane)
        state = StartState(ids, mailbox.params, context.stop, mailbox.seed, tree, len(said))
        for result in compare_with_target(
            lane,
            state,
            request.repetitions,
            lambda: not mailbox.is_sole_request(request, running),
        ):
            mailbox.emit(result)
    except Exception as error:  # the screen shows it, and the thread goes on
        note = describe(error)
        mailbox.emit(SamplingTest(request.lane, repetitions=request.repetitions, note=note))
    with mailbox.wake:
        if mailbox.sampling_test is request:
            mailbox.sampling_test = None


def give_advice(
    request: StartAdvice, mailbox: Mailbox, lanes: Lanes, conversation: Conversation
) -> None:
    """Measure for advice until it is done, or anything else is requested."""
    models, trees = lanes.models, mailbox.trees
    specs = [lane.spec for lane in lanes if mailbox.enabled(lane.spec.name)]
    try:
        if models is None:
            raise InputError("only servers answer: no model is loaded here to measure")
        document = advise(
            request,
            models,
            [replace(spec, tree=trees.get(spec.name, spec.tree)) for spec in specs],
            conversation.prompts(request.examples, models),
            params=mailbox.params,
            stop=conversation.stop(models),
            seed=mailbox.seed,
            report=mailbox.emit,
            cancelled=lambda: not mailbox.is_advising(request),
            ends=lambda: mailbox.advice_ends,
        )
        result = Advice(document=document)
    except InterruptedError:
        ended = mailbox.advice_ends
        why = "it was ended too early" if ended else "something else was asked for"
        result = Advice(note=why)
    except Exception as error:  # the screen shows it, and the thread goes on
        result = Advice(note=describe(error))
    with mailbox.wake:
        wanted = mailbox.advice is request
        if wanted:
            mailbox.advice = None
    if wanted:
        mailbox.emit(result)
