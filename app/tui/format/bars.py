"""Bars and small plots made of block characters."""

from __future__ import annotations

from collections.abc import Sequence

EIGHTHS = " ▏▎▍▌▋▊▉█"
HEIGHTS = "▁▂▃▄▅▆▇█"
HISTOGRAM_COLUMNS = 8
TIME_GLYPHS = "█▒░·"  # draft, verify, accept, other


def bar(share: float, cells: int) -> str:
    """Return a bar over `share` of `cells`, in eighths of a cell; visible for any share above 0."""
    whole, rest = divmod(max(round(share * cells * 8), int(share > 0)), 8)
    return f"{'█' * whole + EIGHTHS[rest].strip():<{cells}}"


def progress_bar(share: float, cells: int) -> str:
    done = round(min(max(share, 0.0), 1.0) * cells)
    return "━" * done + "─" * (cells - done)


def time_bar(parts: Sequence[float], cells: int, glyphs: str = TIME_GLYPHS[:3]) -> str:
    """Return the parts of a time in proportion; each part above 0 has at least one cell."""
    widths = shares(parts, cells, least=1)
    return "".join(glyph * width for glyph, width in zip(glyphs, widths, strict=True))


def shares(parts: Sequence[float], whole: int, least: int = 0) -> list[int]:
    """Whole numbers in proportion to the parts that add up to `whole`: the largest takes what
    rounding leaves. Each part above 0 has at least `least`; where there is none, all are 0."""
    total = sum(parts)
    if total <= 0.0:
        return [0] * len(parts)
    found = [max(least, round(part / total * whole)) if part > 0 else 0 for part in parts]
    largest = found.index(max(found))
    found[largest] = max(least, found[largest] + whole - sum(found))
    return found


def histogram(counts: tuple[int, ...]) -> str:
    """Return a bar for each number of accepted tokens, from 0; the last one is for all higher
    numbers."""
    last = HISTOGRAM_COLUMNS - 1
    if len(counts) > HISTOGRAM_COLUMNS:
        counts = (*counts[:last], sum(counts[last:]))
    top = max(counts, default=0)
    if not top:
        return ""
    heights = [count * (len(HEIGHTS) - 1) for count in counts]
    return "".join(HEIGHTS[-(-height // top)] if height else " " for height in heights)


def speed_columns(speeds: tuple[float, ...]) -> str:
    """Return a column for each speed. The base line is half of the highest, so that similar speeds
    look similar, or the lowest if that is less."""
    top = max(speeds)
    floor = min(top / 2, *speeds)
    steps = len(HEIGHTS) - 1
    return "".join(HEIGHTS[round((speed - floor) / (top - floor) * steps)] for speed in speeds)
