"""A question has one answer, whichever file its wording stands in."""

from collections import defaultdict

from assets.demo.recipe.corpus.text import ANSWERS, REFERENCE, Topic, read_topics


def topics() -> dict[str, Topic]:
    return {
        f"{path.stem}/{topic.name}": topic
        for path in sorted(ANSWERS.glob("*.txt"))
        if path.name != "definitions.txt"
        for topic in read_topics(path)
    }


def test_a_topic_refers_to_one_that_has_answers() -> None:
    answers = [answer for topic in topics().values() for answer in topic.answers]
    assert not any(answer.startswith(REFERENCE) for answer in answers)


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
