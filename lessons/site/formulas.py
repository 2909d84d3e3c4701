r"""LaTeX as MathML, which browsers set without any help.

latex2mathml translates. MENDED lists what it, or the rules for MathML in browsers, leave to be done.
"""

from __future__ import annotations

import re

from latex2mathml.converter import convert

from tinyvit.support.errors import UserError

_CORNERS = {r"\lfloor": "⌊", r"\rfloor": "⌋", r"\lceil": "⌈", r"\rceil": "⌉"}  # unknown after \Bigl
_BREAK = re.compile(r" (?:[-+=]|\\approx) ")  # where a line may end, outside all brackets
_LONG = 30  # characters of LaTeX; shorter formulas are not broken

MENDED = (
    # \mathrm{mean} is a word and no product of four letters.
    (r'(?:<mi mathvariant="normal">\w</mi>){2,}', lambda word: f"<mi>{re.sub('<.*?>', '', word[0])}</mi>"),
    # In the eyes of a browser, <mtext> is a space, and "inputs + outputs" a plus sign between spaces.
    (r"<mtext>([^<]{2,})</mtext>", r"<mi>\1</mi>"),
    # The name of a function stands apart, as in x log y, but not from a bracket.
    (r"<m([io])>(cos|exp|log|max|min|sin|tanh)</m\1>", r'<mo lspace="0.17em" rspace="0.17em">\2</mo>'),
    (r' rspace="0.17em">(\w+)</mo>(?=<mo[^>]*>[(\[{]</mo>)', r' rspace="0">\1</mo>'),
    (r'(?<=[(\[{=,·]</mo>)<mo lspace="0.17em"', '<mo lspace="0"'),
    # A sign that follows another one belongs to the number behind it, as in (-1).
    (r"(?<=[(\[{=,≈≤≥<→←·×]</mo>)<mo>([−+])</mo>", r'<mo form="prefix">\1</mo>'),
    (r"<mi>±</mi>", "<mo>±</mo>"),
    # Bars and slashes are as high as letters, and close to them.
    (r'<mo(?: stretchy="false")?>([|‖/])</mo>', r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>'),
    # Fonts have a larger prime for exponents, where it is asked for.
    (r"<mi>([′″‴]+)</mi>", r'<mo class="prime">\1</mo>'),
    # A large bracket with an exponent stays large only in a row of its own.
    (r'<msup>(<mo stretchy="true"[^>]*)(>[^<]*</mo>)', r'<msup><mrow>\1 lspace="0" rspace="0"\2</mrow>'),
)


def inline(latex: str) -> str:
    """A formula within the text. A line may end before a sign of a long one."""
    pieces, depth = [""], 0
    for i, character in enumerate(latex):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and len(latex) > _LONG and _BREAK.match(latex, i):
            pieces.append("")
        pieces[-1] += character
    first, *others = map(mathml, pieces)
    return "<wbr>".join(
        [first, *(each.replace("<mrow><mo>", '<mrow><mo form="infix">', 1) for each in others)]
    )


def equation(latex: str) -> str:
    r"""A formula on a line of its own, with its number from \tag{...} beside it."""
    formula, _, tag = latex.partition(r"\tag{")
    number = f"<span>({tag.rstrip().removesuffix('}')})</span>" if tag else ""
    return f'<div class="equation"><div class="wide">{mathml(formula, "block")}</div>{number}</div>\n'


def mathml(latex: str, display: str = "inline") -> str:
    """A formula, or a part of one."""
    latex = re.sub(r"\\[lr](?:floor|ceil)\b", lambda corner: _CORNERS[corner[0]], latex)
    try:
        text = convert(latex.strip(), display=display)
    except Exception as error:  # its exceptions have nothing in common
        problem = (
            f"latex2mathml does not know ${latex.strip()}$; version 3.80 knows all formulas of the course."
        )
        raise UserError(problem) from error
    text = re.sub(r"&#x(?!0*(?:26|3[CE]);)([0-9A-F]+);", lambda code: chr(int(code[1], 16)), text)
    for pattern, better in MENDED:
        text = re.sub(pattern, better, text)
    return text
