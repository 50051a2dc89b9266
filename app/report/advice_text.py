"""Formats the document of `specchat advise` for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from app.report.batches import disagree
from app.report.bench_text import figure_cells
from app.report.page import Report, Section, aligned
from app.report.plots import advice_figure
from app.report.verdict import INCREDIBLE, incredible_row
from app.strategies.lane_spec import without_temperature
from app.text.plural import pluralize


def format_advice(document: dict[str, Any]) -> str:
    blocks = []
    for section in advice_sections(document):
        lines = [section.title] if not section.table else aligned(section.table)
        lines += [*([""] if section.table else []), *section.sentences]
        for what, text in section.snippets:
            lines += ["", what, *(f"  {line}" for line in text.split("\n"))]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def advice_report(document: dict[str, Any]) -> Report:
    title = f"specchat advise: {document['target']}"
    return Report(title, advice_sections(document), document, advice_figure)


def advice_sections(document: dict[str, Any]) -> list[Section]:
    """Make one for each temperature, with a table in the order of `fastest_first`; the engines'
    configurations; how it was measured."""
    sections = []
    for best in document["best"]:
        rows = fastest_first(document, best["temperature"])
        title = f"temperature {best['temperature']:g}"
        early = document["only_screened"]
        sentences = verdict(best, rows, document["batches"]["measured"], early)
        sections.append(Section(title, sentences, _table(title, rows)))
    can = _merged([entry for entry in document["engines"] if entry["configuration"] is not None])
    cannot = _merged([entry for entry in document["engines"] if entry["configuration"] is None])
    sections.append(
        Section(
            "To paste: the fastest settings measured here that each engine supports",
            [f"{'; '.join(map(_engine, groups))}: {note}." for note, groups in _by_note(cannot)],
            snippets=[(_snippet_title(entries), entries[0]["configuration"]) for entries in can],
        )
    )
    sections.append(Section("How it was measured", _notes(document)))
    return sections


def fastest_first(document: dict[str, Any], temperature: float) -> list[dict[str, Any]]:
    """Return the measured rows of one temperature."""
    rows = (row for row in document["measured"] if row["temperature"] == temperature)
    return sorted(rows, key=lambda row: -(row["speedup"] or 0.0))


def verdict(
    best: dict[str, Any], rows: list[dict[str, Any]], measured: bool, early: bool = False
) -> list[str]:
    """Sentences on the best at one temperature. `measured`: the passes over batches were; `early`:
    ended before the best were measured on other answers."""
    if best["name"] is None:
        return ["→ Use no drafting: no strategy was shown to be faster than the target alone."]
    row = next(row for row in rows if row["name"] == best["name"])
    sure = (
        f"{best['speedup_low']:.2f} to {best['speedup_high']:.2f}, {best['interval']} of "
        f"{best['answers']} answers to {pluralize(best['prompts'], 'prompt')}"
        if best["answers"] > 1
        else "from a single answer: measure longer to know how certain that is"
    )
    doubt = "?" if incredible_row(row) else ""
    use = "Use"
    if doubt or early:
        use = "Measure again; so far the best is" if doubt else "So far the best is"
    lossy = {each["name"] for each in rows if each["lossy"]}
    name, *ties = (
        without_temperature(each) + (" (lossy)" if each in lossy else "")
        for each in (best["name"], *best["ties"])
    )
    alike = f" (or {', '.join(ties)}: as fast here)" if ties else ""
    lines = [
        f"→ {use} {name}{alike}: {best['speedup']:.2f}{doubt} times as fast as the target alone "
        f"({sure})."
    ]
    if any(map(incredible_row, rows)):
        lines.append(INCREDIBLE)
    batches = row["batch_speedups"].items()
    if not batches:  # it was ended before
        return lines
    end = f"it still pays at {best['largest_batch']}, the largest tried"
    if best["stops_paying_at"] is not None:
        end = f"it stops paying at about {best['stops_paying_at']} sequences at once"
    if disagree(row["batch_speedups"].values()):
        end = "these disagree, something else was using the machine: measure again"
    sizes = ", ".join(f"{speedup:.2f}x at {size}" for size, speedup in batches)
    how = "by measured passes" if measured else "estimated"
    lines.append(f"Larger batches, {how}: {sizes}; {end}.")
    return lines


def _table(title: str, rows: list[dict[str, Any]]) -> list[list[str]]:
    table = [[title, "tok/s", "speedup", "low-high", "α", "τ", "answers", "same ids"]]
    for row in rows:
        speed, times, spread, alpha, tau, same = figure_cells(row, row["answers"])
        spread = spread if alpha and row["answers"] > 1 else ""
        name, answers = without_temperature(row["name"]), str(row["answers"])
        table.append([name, speed, times, spread, alpha, tau, answers, same])
    return table


def _by_note(
    groups: list[list[dict[str, Any]]],
) -> Iterable[tuple[str, list[list[dict[str, Any]]]]]:
    """The groups that have the same note together, so that it is said once."""
    found: dict[str, list[list[dict[str, Any]]]] = {}
    for entries in groups:
        found.setdefault(entries[0]["note"], []).append(entries)
    return found.items()


def _merged(entries: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Groups of entries that differ only in the temperature."""
    same = itemgetter("engine", "version", "configuration", "note")
    alike: defaultdict[object, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        alike[same(entry)].append(entry)
    return list(alike.values())


def _engine(entries: list[dict[str, Any]]) -> str:
    temperatures = " and ".join(f"{entry['temperature']:g}" for entry in entries)
    return f"{entries[0]['engine']} ({entries[0]['version']}), temperature {temperatures}"


def _snippet_title(entries: list[dict[str, Any]]) -> str:
    speedups = " and ".join(f"{entry['speedup']:.2f}x" for entry in entries)
    title = f"{_engine(entries)}: {without_temperature(entries[0]['name'])}, {speedups} here"
    note = entries[0]["note"]
    return f"{title} ({note})" if note else title


def _notes(document: dict[str, Any]) -> list[str]:
    notes = [f"{name}: not available: {why}." for name, why in document["unavailable"].items()]
    notes += [f"{name}: failed: {why}." for name, why in document["failed"].items()]
    if document["first_turns_only"]:
        notes.append("Only the first turn of each conversation was answered.")
    if (kept := document["kv_cache"]) != "none":
        notes.append(
            f"Every lane kept the target's keys and values in {kept}, which is lossy: same ids are "
            "those of the target alone with such a cache."
        )
    batches = document["batches"]
    settings = pluralize(len(document["screened"]), "setting")
    screened = f"{settings} screened on short answers, the best of each kind measured on others"
    ended = document["ended_early"]
    if ended:
        screened += "; ended early"
    if document["only_screened"]:
        screened = (
            f"{settings} screened on short answers, and ended before the best of each kind were "
            "measured on others: their speedups are likely too high"
        )
    notes.append(
        f"{screened}; {pluralize(document['prompts'], 'prompt')}, "
        f"{document['seconds']:.0f} s, {document['device']} {document['dtype']}, "
        f"{pluralize(document['threads'], 'thread')}, batch size 1, "
        f"seed {document['settings']['seed']}."
    )
    if not ended or any(row["batch_speedups"] for row in document["measured"]):
        notes.append(f"Larger batches are {batches['method']}. This {batches['limits']}.")
    notes.append("The engines' options are those documented in November 2026.")
    return notes
