"""A dark and a light theme. Blue and orange are safe for colour-blind users; every colour has a
contrast of at least 4.5 to the backgrounds. The steps of a scale go away from the background."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES, Theme

DARK = Theme(
    name="specchat-dark",
    primary="#7FB8E6",
    secondary="#5A7A99",
    accent="#E6C15A",
    warning="#E6B450",
    error="#F2777A",
    success="#7FC98F",
    foreground="#D8DEE6",
    background="#10151C",
    surface="#10151C",
    panel="#1A222C",
    dark=True,
    variables={
        "accepted": "#56B4E9",
        "rejected": "#B98A3E",
        "dropped": "#A87A1E",
        "step0": "#7479BC",
        "step1": "#5CA0CC",
        "step2": "#4CC0B2",
        "step3": "#98DD62",
        "step4": "#FDE725",
        "lane1": "#B9AEE6",
        "lane2": "#4FC3B0",
        "lane3": "#E8C468",
        "lane4": "#F291B8",
        "lane5": "#A3CF72",
        "lane6": "#D6A283",
        "tint": "#26323F",
        "quiet": "#8E9BAB",
        "edge": "#3A4653",
        "footer-background": "#1A222C",
        "footer-key-foreground": "#7FB8E6",
    },
)

LIGHT = Theme(
    name="specchat-light",
    primary="#1F5F99",
    secondary="#4A6E8F",
    accent="#8A6100",
    warning="#8A5A00",
    error="#B3261E",
    success="#1E7A3A",
    foreground="#1B2229",
    background="#FAFAF7",
    surface="#FAFAF7",
    panel="#EDEEEA",
    dark=False,
    variables={
        "accepted": "#0072B2",
        "rejected": "#8F5A2E",
        "dropped": "#956535",
        "step0": "#5E7A1F",
        "step1": "#17685C",
        "step2": "#25527A",
        "step3": "#362B75",
        "step4": "#440154",
        "lane1": "#6549A8",
        "lane2": "#00695C",
        "lane3": "#7D5A00",
        "lane4": "#A82A66",
        "lane5": "#3F6B12",
        "lane6": "#87492B",
        "tint": "#DCE6EE",
        "quiet": "#5C6670",
        "edge": "#B9C0C6",
        "footer-background": "#EDEEEA",
        "footer-key-foreground": "#1F5F99",
    },
)

LANE_COLORS = 6  # then they repeat


def lane_color(number: int) -> str:
    """Return the theme variable of lane `number`'s colour."""
    return f"$lane{(number - 1) % LANE_COLORS + 1}"


OURS = {theme.name: theme for theme in (DARK, LIGHT)}


def require_theme(name: object) -> str:
    """Return the name of a theme. Raises ValueError with all names."""
    names = [*OURS, *BUILTIN_THEMES]
    if name not in names:
        raise ValueError(f"there is no theme '{name}'; choose from {', '.join(names)}")
    return str(name)
