"""What is true is called true, however it is asked."""

import random

from assets.demo.recipe.corpus import claims
from assets.demo.recipe.corpus.text import CHOICE


def test_yes_stands_before_what_is_so() -> None:
    assert len(claims.claims()) > 60
    wordings = {}
    for right, wrong, why in claims.claims():
        for holds, claim in ((True, right), (False, wrong)):
            forms = CHOICE.search(claim)
            for form in forms[1].split("|") if forms else (claim,):
                wordings[CHOICE.sub(form, claim)] = claims.judged(holds, right, why)
    seen = 0
    for seed in range(400):
        messages = claims.sample(random.Random(seed), seed % 4 == 0)
        for asked, said in zip(messages[::2], messages[1::2], strict=True):
            found = [c for c in wordings if c.lower() in asked["content"].lower()]
            if found:
                seen += 1
                assert said["content"] == wordings[max(found, key=len)], asked
    assert seen > 200
