"""Questions about speculative decoding and about the app: single ones, and short conversations.

The answers stand in topic files. A topic's name says what may follow it: `Medusa: lossless` is an
aspect of `Medusa`, `Medusa vs EAGLE` compares two subjects, and topics near each other in a file
belong together.
"""

from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from assets.demo.recipe.corpus.text import ANSWERS, Conversation, Topic, as_typed, chat, read_topics

FILES = ("concepts.txt", "methods.txt", "practice.txt", "app.txt", "tour.txt")
CONVERSATIONS = 0.15  # the share of samples with more than one question
NEAR = 5  # topics that far apart in a file are related

# What may be asked about a subject that was just spoken of, by the aspect in a topic's name.
ASPECTS = {
    "short": ("In one sentence?", "Shorter, please.", "Can you say that in one sentence?"),
    "for a child": ("Can you say that more simply?", "I did not understand that.", "Simpler?"),
    "analogy": ("Do you have an analogy?", "What is it like?", "Can you compare it to something?"),
    "example": ("Can you give me an example?", "For example?", "An example, please."),
    "how it works": ("How does it work?", "And how does it work?", "How is that done?"),
    "lossless": ("Is it lossless?", "Does it change the text?", "Is it exact?"),
    "training": ("Does it need training?", "Do I have to train something?", "And the training?"),
    "who": ("Who invented it?", "Where does it come from?", "How old is it?"),
    "name": ("Why is it called that?", "Why that name?", "Where does the name come from?"),
    "pros and cons": ("What are its pros and cons?", "When should I use it?", "Is it any good?"),
    "cost": ("What does it cost?", "Is it free?", "And the cost?"),
    "limits": ("When does it not pay?", "Is it always faster?", "What are its limits?"),
    "speed": ("How fast is it?", "How much faster is it?", "What speedup does it give?"),
    "CPU": ("Does it work on a CPU?", "And on a CPU?", "Is it good on a CPU?"),
    "GPU": ("Does it work on a GPU?", "And on a GPU?"),
    "batch": ("And with many users?", "Does it help a busy server?", "And at large batch sizes?"),
    "tree": ("And its tree?", "Does it use a tree?"),
    "poem": ("Can you make a poem of it?", "A poem about it, please."),
}

# Topics of one kind: after one of them, "And X?" asks for another.
KINDS = (
    (
        "a draft model", "Medusa", "EAGLE", "EAGLE-3", "prompt lookup", "suffix decoding",
        "lookahead decoding", "MTP", "self-speculation", "Hydra",
    ),
    ("EAGLE-1", "EAGLE-2", "EAGLE-3"),
    ("Medusa-1", "Medusa-2"),
    ("drafting", "verification", "acceptance", "rejection"),
    ("a correction token", "a bonus token"),
    ("the acceptance rate", "tau", "gamma", "speedup"),
    ("a draft model", "the target model"),
    ("temperature", "top-p", "top-k", "a seed"),
    ("greedy decoding", "sampling", "beam search"),
    ("greedy acceptance", "typical acceptance"),
    ("lossless", "lossy"),
    ("prefill", "the decode phase"),
    ("latency", "throughput"),
    ("TTFT", "tokens per second"),
    ("logits", "softmax", "a probability", "a distribution"),
    ("entropy", "perplexity"),
    ("float32", "bfloat16"),
    ("attention", "a layer", "an embedding", "a hidden state", "the lm_head"),
    ("a token", "a tokenizer", "a vocabulary", "BPE"),
    ("a static tree", "a dynamic tree"),
    ("a tree draft", "tree attention", "a tree mask", "a node", "branching"),
    ("distillation", "self-distillation", "fine-tuning"),
    ("SpecInfer", "Sequoia", "DistillSpec", "LayerSkip"),
    ("vLLM", "SGLang", "TensorRT-LLM", "llama.cpp"),
    ("memory bandwidth", "arithmetic intensity"),
    (
        "Enter key", "F5 key", "Esc key", "Space key", "n key", "v key", "w key", "s key", "o key",
        "u key", "Delete key", "f key", "e key", "a key", "m key", "z key", "y key", "d key",
        "F1 key", "F2 key", "F3 key", "F4 key", "F6 key",
    ),
    (
        "ar lane", "draft lane", "medusa lane", "eagle lane", "eagle1 lane", "lookup lane",
        "suffix lane",
    ),
    ("gamma slider", "temperature slider", "top-p slider", "top-k slider", "tokens slider"),
    ("accepted mark", "rejected mark", "dropped mark", "bold mark", "plain mark"),
    ("for chat", "for code", "for summaries", "for copying", "for stories"),
)  # fmt: skip
OTHERS = ("And {}?", "What about {}?", "How about {}?", "Ok. And {}?")
COMPARISONS = (
    "How is it different from {}?", "How does it differ from {}?", "And compared with {}?",
    "Is it better than {}?",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subject:
    """All topics, the sums of their weights, and what may follow each."""

    topics: tuple[Topic, ...]
    weights: tuple[float, ...]
    followups: dict[str, tuple[tuple[str, Topic], ...]]  # a question and the topic that answers it
    near: dict[str, tuple[Topic, ...]]


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    subject = read_subject()
    (topic,) = rng.choices(subject.topics, cum_weights=subject.weights)
    if rng.random() >= CONVERSATIONS:
        return topic.sample(rng, held_out)
    asked = rng.choice(topic.reserved if held_out else topic.questions)
    texts = [as_typed(rng, asked), topic.answer(rng)]
    seen = {topic.name}
    for _ in range(1 if rng.random() < 0.65 else 2):
        followups = [
            (question, other)
            for question, other in subject.followups[topic.name]
            if is_reserved(topic.name, question) == held_out and other.name not in seen
        ]
        if followups and rng.random() < 0.7:
            question, topic = rng.choice(followups)
        else:
            near = [other for other in subject.near[topic.name] if other.name not in seen]
            topic = rng.choice(near)
            question = rng.choice(topic.reserved if held_out else topic.questions)
            if rng.random() < 0.25:
                question = going_on(question)
        if rng.random() < 0.25:
            question = question.rstrip("?.").lower()
        seen.add(topic.name)
        texts += [question, topic.answer(rng)]
    return chat(*texts)


@cache
def read_subject() -> Subject:
    """The topic files that there are."""
    files = [read_topics(ANSWERS / name) for name in FILES if (ANSWERS / name).exists()]
    topics = tuple(topic for file in files for topic in file)
    names = {topic.name: topic for topic in topics}
    return Subject(
        topics,
        tuple(accumulate(len(topic.questions) * topic.weight for topic in topics)),
        {topic.name: tuple(following(topic.name, names)) for topic in topics},
        {
            topic.name: tuple(file[max(0, i - NEAR) : i] + file[i + 1 : i + 1 + NEAR])
            for file in files
            for i, topic in enumerate(file)
        },
    )


def following(name: str, names: dict[str, Topic]) -> list[tuple[str, Topic]]:
    """Questions that lean on the topic `name` ("Is it lossless?", "And EAGLE?"), with the topics
    that answer them."""
    spoken = {bare(other): other for other in names}
    subject, _, aspect = bare(name).partition(": ")
    found = []
    for other, topic in names.items():
        about, _, what = other.partition(": ")
        if about == subject and what != aspect and what in ASPECTS:
            found += [(question, topic) for question in ASPECTS[what]]
        pair = other.split(" vs ")
        if subject in pair and len(pair) == 2:
            rival = pair[1 - pair.index(subject)]
            if rival in spoken:
                found += [(form.format(spoken[rival]), topic) for form in COMPARISONS]
    for kind in KINDS:
        if subject not in map(bare, kind):
            continue
        for other in kind:
            about = f"{bare(other)}: {aspect}" if aspect else other
            answer = names.get(about) or names.get(f"which strategy {about}")
            if bare(other) != subject and answer:
                found += [(form.format(aloud(other)), answer) for form in OTHERS]
    return found


def bare(name: str) -> str:
    """A topic's name without what is not spoken: `a draft model` is `draft model`."""
    return re.sub(r"^(a|an|the|which strategy) ", "", name)


def aloud(name: str) -> str:
    """How a topic is spoken of: `v` for `v key`, `the draft lane`, `rejected tokens`."""
    if name.endswith((" lane", " slider")):
        return f"the {name}"
    if name.endswith(" mark"):
        word = name.removesuffix(" mark")
        return f"{word} {'text' if word in ('bold', 'plain') else 'tokens'}"
    return name.removesuffix(" key")


def is_reserved(name: str, question: str) -> bool:
    """Whether this question after this topic is kept out of the training text."""
    return zlib.crc32(f"{name}|{question}".encode()) % 20 == 0


def going_on(question: str) -> str:
    """`And what is τ?`, where the question begins with a word that allows it."""
    first = question.partition(" ")[0]
    if first in ("What", "How", "Why", "Is", "Does", "Can", "When", "Which", "Who", "Are"):
        return f"And {first.lower()}{question[len(first) :]}"
    return question
