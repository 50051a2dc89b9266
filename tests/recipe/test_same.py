"""A question has one answer, whichever file its wording stands in."""

from collections import defaultdict

from assets.demo.recipe.corpus.text import ANSWERS, Topic, read_topics, same


def topics() -> dict[str, Topic]:
    return {
        f"{path.stem}/{topic.name}": topic
        for path in sorted(ANSWERS.glob("*.txt"))
        if path.name != "definitions.txt"
        for topic in read_topics(path)
    }


def test_same_names_topics_that_there_are_and_they_share_their_answers() -> None:
    known = topics()
    assert len(same()) > 200
    for other, first in same().items():
        assert known[other].answers == known[first].answers
        assert first not in same()


def test_no_wording_has_two_answers() -> None:
    found: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    for name, topic in topics().items():
        for wording in (*topic.questions, *topic.reserved):
            key = " ".join(wording.lower().replace("what's", "what is").rstrip("?.! ").split())
            key = key.replace("whats ", "what is ").replace("colour", "color")
            if not (wording.startswith("[") or "|" in wording):
                found[key][topic.answers] = name
    double = {key: list(by.values()) for key, by in found.items() if len(by) > 1}
    assert not double
