"""Explanations of the terms on the screen, for the help screen and for tooltips."""

from __future__ import annotations

import re

from app.strategies.registry import STRATEGIES

LEGEND = [
    ("accepted", "underline $accepted", "‹accepted› drafted, and the target agreed"),
    (
        "rejected",
        "strike $rejected",
        "~rejected~ drafted, the target disagreed; not in the text",
    ),
    ("dropped", "strike $dropped", "~dropped~ drafted after a rejected one, never tested"),
    ("bonus", "bold", "the target's own token that ends a round, or its correction"),
    ("plain", "", "the first token, and lanes that do not draft"),
    ("⟨temp 0.80⟩", "$quiet", "from here on with other settings; not in the text"),
]
TITLE = [
    ("cpu float32", "the device that the models run on, and their data type; threads: the CPU "
                    "threads that share a pass."),
    ("seed", "starts the random draws: the same seed, prompt and settings give the same tokens, "
             "but not where you ask for another answer: it is drawn anew. The "
             "palette sets another."),
    ("context", "how much of the model's context the conversation fills, from half on; in a full "
                "one no answer has room. A small model loses the thread long before."),
    ("○ ● ‖", "idle; running, with the number of lanes that are done; paused until you resume."),
]  # fmt: skip
LENSES = [
    ("fate", "what became of a token: the colours above"),
    ("probability", "the target's probability of each token, before the sampling settings. The "
                    "steps differ in lightness, whatever the hue: closest to the background where "
                    "it was sure; where it was surprised, brightest on a dark theme and darkest "
                    "on a light one."),
    ("entropy", "how unsure the target was at each token, in bits; the same steps"),
    ("‹word›¹ … ⁴", "the same steps as glyphs, 4 the most surprised or unsure; bare: sure"),
    ("round", "every second round is tinted, or ‹between glyphs›: what one target pass produced"),
]  # fmt: skip
LANE_MARKS = [
    ("▶ ‖ …", "running; paused; waiting for its turn"),
    ("✓ ■ ✗", "done; stopped; failed, with the reason in its pane"),
    ("next turn continues here", "the answers differ, and all lanes continue from this one: that "
                                 "of the lane that was in focus last."),
    ("next γ8", "a setting was changed after the run: the figures beside it were measured with "
                "the old one."),
]  # fmt: skip
SCOREBOARD = [
    ("★", "the fastest of the lanes that draft, if it is faster than the target alone."),
    ("2.3× (2.1-2.4)", "the median speedup of all runs of this prompt with these settings, in "
                       "parentheses the lowest and the highest; the edge below has those of all "
                       "prompts in this session."),
    ("38 passes", "of the target in the last run."),
    ("same text", "the same tokens as the autoregressive lane; other text: some differ; sampled: "
                  "above temperature 0, where texts may differ but all follow the target's "
                  "distribution; other model: the draft model answered; lossy: accepted by the "
                  "typical rule."),
]  # fmt: skip
TREE = [
    ("✓ ┝━", "accepted: the path that was kept"),
    ("✗", "tested and rejected; the line says what the target wanted"),
    ("·", "never tested: after a rejected token, or after the end of the answer"),
    ("◆", "the target's own token, which ends the round"),
    (
        "drafted",
        "tokens that were guessed for this pass; tested: levels of the draft that were "
        "compared with the target's own choice; accepted of them; emitted: tokens added to the "
        "answer, the target's own included.",
    ),
    ("guess", "the node's rank among the drafter's guesses; Medusa: h2 1st is head 2's best"),
    (
        "draft",
        "EAGLE: the draft's own probability of the whole path down to the token. The likeliest are "
        "verified, the others pruned (○).",
    ),
    (
        "p",
        "the target's probability of the token after its parent, after temperature and top-p; at "
        "temperature 0 before them, as one token has all of it after. Only for rounds drafted "
        "while this is open, which costs every lane a little time.",
    ),
]
TOKEN = [
    ("·the ↵", "a token's text with its spaces and line breaks made visible; #17: one without a "
               "text of its own, by its id."),
    ("p", "the target's probability of the token, after temperature, top-k, top-p and min-p; "
          "“before”: without any of them."),
    ("q", "the drafter's own probability of the token; lookup, which copies, has none."),
    ("chance", "of being accepted: min(1, p/q). A draw between 0 and 1 below it accepts. A guess "
               "that was not drawn is accepted when the target's own draw is the same token; at "
               "temperature 0 when it is the target's likeliest."),
    ("entropy", "how unsure the target was there, in bits: 0 is sure, 1 a coin flip, 3 eight equal "
                "choices. Of its probabilities before sampling settings."),
]  # fmt: skip
FIGURES = [
    ("α if reached", "conditional: of the drafts that were tested at this position, how many were "
                     "accepted."),
    ("α at all", "unconditional: of all rounds that drafted, in how many this position was "
                 "accepted; one that drafted less far counts as not accepted."),
    ("draft", "█ time until the drafter has proposed; ▒ verify: the target's pass over the "
              "proposals (pass, where nothing is drafted); ░ accept: choosing, and keeping what "
              "was chosen; · other: what is left of the round."),
    ("memory", "of the process, and of the GPU; of that the weights of each model and the keys "
               "and values that lanes keep of their tokens."),
]  # fmt: skip
REJECTIONS = [
    ("drafted", "the drafter's likeliest token at the first level that the target rejected; "
                "wanted: the token that came instead. Enter goes to it in the answer."),
    ("head, level", "how deep in the draft: Medusa has a head for each level."),
    ("rank, p", "where the target itself ranks the drafted token, 1 its likeliest, low: not among "
                "its five likeliest; its probability, before sampling settings."),
    ("q, bits", "the drafter's own probability, known for rounds drafted while this or another "
                "panel with probabilities was open; how unsure the target was there."),
    ("accepted, 1st", "of the tested levels, where a guess was accepted; where the likeliest one "
                      "was. Over the session's answers with these settings. Kinds are those of the "
                      "token that came."),
    ("by q", "calibration: of all tested guesses with such a q, how many were right, beside their "
             "mean q. A well-calibrated drafter is right as often as it says."),
]  # fmt: skip
METRICS = [
    ("stopped", "by you, before it was done; run with an empty prompt to continue. error: the "
                "reason is in the pane."),
    ("length", "the answer has as many tokens as were asked for, or the context is full."),
    ("tok", "tokens of the answer; the first comes from the prefill."),
    ("α", "alpha, the acceptance rate: accepted ÷ tested. Tested are the drafted tokens up to the "
          "first that was rejected; what follows it was never tested."),
    ("τ", "tau: tokens per target pass, the bonus token included. Accepted per pass is τ − 1."),
    ("TTFT", "time to the first token: the prefill. It is not in tok/s."),
    ("tok/s", "decoded tokens ÷ decoding time, without the first token. Batch size is 1."),
    ("1.77×", "speedup: tok/s over the autoregressive lane's in the same run, in a race while both "
              "ran. Grey: over fewer than 50 tokens, mostly chance."),
    ("1.77×?", "impossible: more than τ, the tokens per pass, though a pass over drafts is never "
               "faster than one over a single token. Something else was using the machine."),
    ("≡AR", "the same tokens as the autoregressive lane; ≠AR@17 differs from token 17 on, and Δ is "
            "how far apart the target's logits of both tokens are there: close to zero is a tie "
            "that rounding decided. When sampling, only in float32, for lanes that don't sample "
            "their drafts, and without Δ: all have the same seed, so they say the same."),
    ("≡AR text", "the text of a server, whose tokens are not known, or of a sampled answer equals "
                 "the autoregressive lane's, character for character. ≠AR text: a server's "
                 "differs at temperature 0."),
    ("over HTTP", "a server answers: its TTFT includes the network, and its tok/s give no speedup, "
                  "since it has its own machine, or another part of this one."),
    ("50% of drafts", "accepted ÷ drafted, where a server does not report enough for α: lower, as "
                      "drafts after a rejected one count."),
    ("▇▅▂", "how many rounds had 0, 1, 2, … accepted tokens; the eighth bar: 7 or more."),
    ("γ", "gamma: the longest draft of a round, in tokens; for Medusa the number of heads used. "
          "“each”: every strategy's own default; “auto”: round by round what is expected to be "
          "fastest, γa4 if the last draft had 4; γa off: no drafts, as they do not pay just now."),
    ("what if", "the tok/s to expect at gamma 0, 1, 2, … for this prompt; at the present gamma "
                "what the scoreboard measured, at others by the times of the last run, and by how "
                "often drafts were accepted in it and, with less weight, in the session's rounds "
                "with these settings. ±: two standard errors; ? in its place: passes took other "
                "shares of the time than at the start, as on a busy machine. γ8?: extrapolated, "
                "fewer than 8 drafts were that long, and longer ones are taken to continue like "
                "the shorter. Up to gamma 16 each has a column, beyond it several share one. "
                "“pays from α”: if α were the same at every position."),
    ("*", "a setting of the lane's own, pinned by key or by --strategies; a slider with this mark "
          "acts on the lane in focus alone."),
    *((each.title, each.explanation) for each in STRATEGIES.values() if each.explanation),
    ("exact", "a draft is kept only where the target says the same; when sampling, every lane has "
              "the target's distribution."),
    ("typical", "Medusa's other rule: a draft is kept when the target gives it more than "
                "min(ε, δ·exp(−entropy)). Faster, but no longer the target's distribution. At "
                "temperature 0 it is plain greedy and exact."),
    ("LOSSY", "rounds of this lane were accepted by the typical rule: its figures are not "
              "comparable with those of exact lanes."),
    ("Prove it", "the next tokens from one position, sampled many times with different seeds: by "
                 "the lane and by plain sampling. p is how often two equal distributions would "
                 "differ as much by chance."),
    ("race", "all lanes at once, round by round, each with the same share of the machine's time. "
             "Whatever slows the machine down affects all alike; a speed is tokens over the "
             "lane's own time. fair: one lane after the other."),
    ("1st 2nd", "which lane was done first, by its own decoding time; once all are done, which has "
                "the highest ×. Lanes that answer with another model are not in the race."),
]  # fmt: skip

# Patterns of texts in an edge, with the term that explains them; the first match counts.
FIGURE_PATTERNS = [
    (re.compile(pattern), term)
    for pattern, term in (
        (r"γ", "γ"),
        (r".* tok/s$", "tok/s"),
        (r"[\d.]+×$", "1.77×"),
        (r"[\d.]+×\?$", "1.77×?"),
        (r"\d+ tok$", "tok"),
        (r"TTFT ", "TTFT"),
        (r"α ", "α"),
        (r"τ ", "τ"),
        (r"[≡≠]AR text$", "≡AR text"),
        (r"[≡≠]AR|Δ", "≡AR"),
        (r"over HTTP$", "over HTTP"),
        (r"\d+% of drafts$", "50% of drafts"),
        (r"[▁▂▃▄▅▆▇█ ]+$", "▇▅▂"),
        (r"LOSSY$", "LOSSY"),
        (r"next turn continues here$", "next turn continues here"),
        (r"next |with the settings before", "next γ8"),
        (r"(T[\d.]+)?\*$", "*"),
        (r"length$", "length"),
        (r"(stopped|error)$", "stopped"),
        (r"[‹~]?(accepted|rejected|bonus)[›~]?$", "accepted"),
        (r"(probability|entropy|‹?every second round›?)$", "fate"),
        (r"‹?[≥<][.\d]", "fate"),
        (r"(drafted|tested|accepted|emitted) \d", "drafted"),
        (r"([█▒░] )?((draft|verify|pass|accept) )?[\d.]+m?s$|[█▒░]+$", "draft"),
        (r"(· )?seed \d", "seed"),
        (r"(· )?context \d", "context"),
        (r"(· )?((cpu|cuda|mps)\S* \S+|\d+ threads?)$", "cpu float32"),
        (r"(· )?server$", "over HTTP"),
        (r"[○●‖] ", "○ ● ‖"),
        (r"(· )?(fair|race)$", "race"),
        (r"\d(st|nd|rd|th)$", "1st 2nd"),
        (r"(· )?typical$", "typical"),
        (r"[▶‖…]$", "▶ ‖ …"),
        (r"[✓■✗]$", "✓ ■ ✗"),
    )
]


def explain(figure: str) -> str | None:
    """Return the explanation of a text in an edge, None if there is none."""
    term = next((term for pattern, term in FIGURE_PATTERNS if pattern.match(figure)), None)
    if term == "accepted":
        return "\n".join(f"{name}: {text}" for name, _, text in LEGEND[:4])
    if term == "fate":
        return "\n".join(f"{name}: {text}" for name, text in LENSES[1:])
    terms = dict([*TITLE, *LANE_MARKS, *TREE, *FIGURES, *METRICS])
    return None if term is None else f"{term}: {terms[term]}"
