"""The direction of an effect is right, whichever way it is asked."""

import random
import re

from assets.demo.recipe.corpus import effects


def test_an_effect_and_its_reverse_go_in_opposite_directions() -> None:
    pairs = list(zip(effects.effects()[::2], effects.effects()[1::2], strict=True))
    assert len(pairs) > 140
    for more, less in pairs:
        assert (more.thing, more.figure) == (less.thing, less.figure)
        assert more.sign + less.sign in (0, 4) and more.why != less.why * (more.sign in (1, -1))


def test_yes_stands_only_before_what_was_asked_for() -> None:
    rng = random.Random(0)
    for _ in range(2000):
        effect = rng.choice(effects.effects())
        name = effect.said[0]
        question, answer = effects.decided(rng, effect, name)
        _, _, ups, downs = effects.FIGURES[effect.figure]
        asked_up = any(case in question for case in ups) or re.search(
            r"\b(raises?|increases?|go up|rise|= higher|is .* higher)\b", question
        )
        asked_down = any(case in question for case in downs) or re.search(
            r"\b(lowers?|reduces?|decreases?|go down|fall|= lower|is .* lower)\b", question
        )
        if effect.sign == 2:
            assert answer.startswith("It depends: ")
        elif effect.sign == 0:
            assert answer.startswith("No, ")
        elif bool(asked_up) != bool(asked_down) and not re.search("higher|lower|raise", name):
            assert answer.startswith("Yes, ") == ((effect.sign > 0) == bool(asked_up)), question


def test_what_is_said_has_no_forms_left() -> None:
    for seed in range(200):
        for message in effects.sample(random.Random(seed), seed % 4 == 0):
            assert not re.search(r"[{}\[\]|]", message["content"]), message


def test_causes_have_the_effect() -> None:
    names = effects.causes("acceptance", 1)
    assert "a lower temperature" in names and "a higher temperature" not in names
