"""Formatting numbers for people: durations, rates, losses and percentages."""

import math


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things, such as '1 image' or '1,234 images'; plural if it takes more than an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def duration(seconds: float | None) -> str:
    """0:41, 12:05 or 1:02:09; -:-- for None, NaN and infinity."""
    if seconds is None or not math.isfinite(seconds):
        return "-:--"
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def img_per_second(rate: float | None) -> str:
    """9.4 img/s, 812 img/s or 12,345 img/s; - if nothing was measured."""
    if rate is None:
        return "- img/s"
    return f"{rate:.1f} img/s" if rate < 9.95 else f"{rate:,.0f} img/s"


def figure(value: float | None) -> str:
    """A number in five columns, with as many digits as fit: 0.812, 12.3, 1e+07, nan, or - for None."""
    if value is None:
        return f"{'-':>5}"
    for form in (".3f", ".1f", ".0f", ".0e"):
        text = f"{value:{form}}"
        if len(text) <= 5:
            break
    return f"{text:>5}"


def percent(share: float | None) -> str:
    """A share (0..1) as a percentage in five columns: 71.2%, 100%, or - for None."""
    text = "-" if share is None else f"{100 * share:.1f}%".replace("100.0", "100")
    return f"{text:>5}"
