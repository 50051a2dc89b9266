"""Formats the document of `specchat bench` as tables, for a terminal and for a page."""

from __future__ import annotations

from typing import Any

from app.report.load_text import load_line
from app.report.page import Report, Section, aligned
from app.report.plots import bench_figure
from app.report.verdict import INCREDIBLE, incredible_row
from app.text.plural import pluralize

Row = dict[str, Any]
Table = list[tuple[str, ...]]


def format_bench(document: Row) -> str:
    blocks = [aligned(table) for _, table in _tables(document)]
    return "\n\n".join("\n".join(lines) for lines in (*blocks, _notes(document)))


def bench_report(document: Row) -> Report:
    (first, contestants), *others = _tables(document)
    sections = [
        Section(first, _notes(document), contestants),
        *(Section(title, [], table) for title, table in others),
    ]
    return Report(f"specchat bench: {document['target']}", sections, document, bench_figure)


def figure_cells(row: Row, answers: int) -> tuple[str, ...]:
    """Speed, speedup (with a ? if it can't be) and its range, α, τ, and how many of the `answers`
    have the baseline's ids, or why they need not."""
    spread = f"{row['speedup_low']:.2f}-{row['speedup_high']:.2f}" if row["speedup"] else ""
    same = "" if row["matches_ar"] is None else f"{row['matches_ar']} of {answers}"
    if row.get("lossy") or row.get("other_model"):
        same = "lossy" if row["lossy"] else "other model"
    rate, tau = row["acceptance_rate"], row["tokens_per_pass"]
    alpha = "" if rate is None else f"{rate:.0%}"
    times = _times(row) + ("?" if incredible_row(row) else "")
    return _speed(row), times, spread, alpha, "" if tau is None else f"{tau:.2f}", same


def _tables(report: Row) -> list[tuple[str, Table]]:
    """The tables with their titles."""
    rows = report["contestants"]
    contestants: Table = [("", "tok/s", "speedup", "low-high", "α", "τ", "same ids")]
    contestants += ((row["name"], *figure_cells(row, report["prompts"])) for row in rows)
    tables = [("Contestants", contestants)]
    timed = [row for row in rows if row["round_seconds"]]
    if timed:
        tables.append(("A round", [("a round", "takes", "drafting", "verifying", "the rest")]))
        for row in timed:
            parts = row["round_seconds"].values()
            whole = sum(parts)
            shares = (f"{part / whole:.0%}" for part in parts)
            tables[-1][1].append((row["name"], f"{whole * 1000:.1f} ms", *shares))
    categories = list(dict.fromkeys(name for row in rows for name in row["categories"]))
    if report["prefixes"]:
        table: Table = [("tok/s (speedup)", *(row["name"] for row in rows))]
        for category in categories:
            cells = (row["categories"][category] for row in rows)
            table.append((category, *(_with_speedup(cell) for cell in cells)))
        tables.append(("After so many tokens", table))
    elif len(categories) > 1:
        compared = [row for row in rows if row["speedup"] and row["name"] != row["baseline"]]
        table = [("speedup (τ)", *(row["name"] for row in compared))]
        for category in categories:
            cells = (row["categories"][category] for row in compared)
            table.append((category, *(_with_tau(cell) for cell in cells)))
        tables.append(("Speedup (τ) by category", table))
    if report["batches"] is not None:
        tables.append(("Larger batches", _batches(report["batches"]["contestants"])))
    return tables


def _batches(rows: list[Row]) -> Table:
    """The fastest contestant at each size."""
    table: Table = [
        ("sequences at once", "alone, tok/s", "drafting, tok/s", "speedup", "by", "pays")
    ]
    for each in zip(*(row["sizes"] for row in rows), strict=True):
        best, name = max(
            ((size, row["name"]) for size, row in zip(each, rows, strict=True)),
            key=lambda pair: pair[0]["tokens_per_second"],
        )
        table.append(
            (
                str(best["sequences"]),
                f"{best['baseline_tokens_per_second']:.1f}",
                f"{best['tokens_per_second']:.1f}",
                _times(best),
                name,
                "yes" if best["speedup"] > 1 else "no",
            )
        )
    return table


def _speed(row: Row) -> str:
    return f"{row['tokens_per_second']:.1f}" if row["tokens_per_second"] else ""


def _times(row: Row) -> str:
    return f"{row['speedup']:.2f}x" if row["speedup"] else ""


def _with_tau(row: Row) -> str:
    tau = "" if row["tokens_per_pass"] is None else f" ({row['tokens_per_pass']:.1f})"
    return f"{_times(row)}{tau}"


def _with_speedup(row: Row) -> str:
    return f"{_speed(row)} ({_times(row)})" if row["speedup"] else _speed(row)


def _notes(report: Row) -> list[str]:
    notes = [f"{name}: not available: {why}" for name, why in report["unavailable"].items()]
    notes += [f"{name}: failed: {why}" for name, why in report["failed"].items()]
    if left_out := report["turns_left_out"]:
        what = pluralize(left_out, "later turn")
        notes.append(
            f"{what} left out: the conversation before does not fit into the model's context."
        )
    notes += [load_line(load) for load in report["load"]]
    if any(map(incredible_row, report["contestants"])):
        notes.append(INCREDIBLE)
    if (batches := report["batches"]) is not None:
        notes.append(f"Larger batches are {batches['method']}. This {batches['limits']}.")
        if batches["left_out"]:
            sizes = ", ".join(map(str, batches["left_out"]))
            notes.append(f"Batches of {sizes} sequences do not fit into the memory or the context.")
    notes += _of_weights(report)
    notes += _of_kv_cache(report)
    facts = [pluralize(report["prompts"], "prompt"), pluralize(report["repeats"], "repeat")]
    if report["threads"] is not None:
        facts += [f"{report['device']} {report['dtype']}", pluralize(report["threads"], "thread")]
    facts += ["batch size 1", f"seed {report['settings']['seed']}"]
    notes.append(f"{', '.join(facts)}; medians over the repeats")
    return notes


def _of_kv_cache(report: Row) -> list[str]:
    cost = report["kv_cache_cost"]
    if cost is None:
        return []
    same = f"{cost['same_answers']} of {report['prompts']} answers of {cost['lane']}"
    text = f"Keys and values in {report['kv_cache']}, {cost['memory']:.0%} of the memory: {same}"
    if cost["first_difference"] is None:
        return [f"{text} are as at full precision."]
    first = cost["first_difference"]
    return [
        f"{text} are as at full precision, the others differ from token {first:.0f} on (median)."
    ]


def _of_weights(report: Row) -> list[str]:
    """How close a pass for one token is to its lower bound, reading the weights once."""
    weights = report["weights"]
    plain = [row for row in report["contestants"] if row["name"] == row["baseline"]]
    if weights is None or not plain or not plain[0]["round_seconds"]:
        return []
    whole = sum(plain[0]["round_seconds"].values())
    return [
        f"Reading the target's {weights['bytes'] / 1e6:,.0f} MB of weights once takes "
        f"{weights['seconds'] * 1000:.2f} ms, {weights['seconds'] / whole:.0%} of a round of "
        f"{plain[0]['name']}."
    ]
