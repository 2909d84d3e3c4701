"""The report of all measurements on a GPU, in Markdown, from the records of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Record = dict[str, Any]


def report(records: Sequence[Record]) -> str:
    """The whole report."""
    facts: Record = next((r["result"] for r in records if r["name"] == "machine" and "result" in r), {})
    measured = [record for record in records if "sides" in record.get("result", {})]
    sections = [
        f"# tinyvit on {facts.get('card', 'a GPU').removeprefix('CuPy on ')}",
        "\n".join(f"- {name}: {value}" for name, value in facts.items() if value),
        "## Speed",
        _speed(measured),
        "## Checks",
        _checks([record for record in records if record not in measured and record["name"] != "machine"]),
        *_kernels(measured),
        *_failures(records),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def _speed(records: Sequence[Record]) -> str:
    """One line for each case; PyTorch's columns say how many times as fast tinyvit was."""
    if not records:
        return "Nothing has been measured yet."
    lines = [
        "| what | ms/step | images/s | predicted ms | of the roofline | peak memory "
        "| times PyTorch eager | times torch.compile |",
        "|---|---:|---:|---:|---:|---:|---|---|",
    ]
    for results in _by_case(records):
        result = results[0]
        ours, case = result["sides"][0], result["case"]
        predicted, share = result.get("predicted_ms_per_step"), result.get("share_of_roofline")
        eager, compiled = (_ratio(results, is_eager) for is_eager in (True, False))
        lines.append(
            f"| {case['mode']}, {case['model']}, batch {case['batch']:,}, {case['precision']} | "
            f"{ours['ms_per_step']:.3f} | {ours['images_per_second']:,.0f} | "
            f"{f'{predicted:.3f}' if predicted else '-'} | {f'{100 * share:.0f} %' if share else '-'} | "
            f"{ours['peak_bytes'] / 1e6:,.0f} MB | {eager} | {compiled} |"
        )
    return "\n".join(lines)


def _by_case(records: Sequence[Record]) -> list[list[dict]]:
    """The results of each case: alone, beside PyTorch, beside torch.compile."""
    cases: dict[str, list[dict]] = {}
    for record in records:
        cases.setdefault(str(record["result"]["case"]), []).append(record["result"])
    return list(cases.values())


def _ratio(results: Sequence[dict], is_eager: bool) -> str:
    """The median of the ratios to PyTorch's fastest of a kind, and their range, where they were measured."""
    for name, values in (pair for result in results for pair in result["ratios"].items()):
        if (" eager " in f"{name} ") == is_eager:
            middle, which = np.median(values), name.partition(" ")[2]
            return f"**{middle:.2f}** ({min(values):.2f} to {max(values):.2f}), {which}"
    return "-"


def _checks(records: Sequence[Record]) -> str:
    lines = ["| what | result | seconds | its last line |", "|---|---|---:|---|"]
    for record in records:
        last = (record.get("last_lines") or [""])[-1].replace("|", "\\|")
        lines.append(f"| {record['title']} | {record['status']} | {record['seconds']:.1f} | {last} |")
    return "\n".join(lines) if records else ""


def _kernels(records: Sequence[Record]) -> list[str]:
    """A table for each case in which the kernels were timed one by one."""
    sections = []
    for record in records:
        rows = record["result"].get("kernels")
        if not rows or record["name"].startswith(("torch", "compile")):  # the same kernels once more
            continue
        lines = [
            "| kernel | launches | MB | µs | predicted µs | of the roofline |",
            "|---|---:|---:|---:|---:|---:|",
        ]
        for row in rows:
            predicted = "- | -"
            if "predicted_seconds" in row:
                predicted = f"{1e6 * row['predicted_seconds']:,.1f} | {100 * row['share_of_roofline']:.0f} %"
            lines.append(
                f"| {row['name']} | {row['launches']} | {row['bytes_moved'] / 1e6:,.1f} | "
                f"{1e6 * row['seconds']:,.1f} | {predicted} |"
            )
        sections += [f"### Kernels one by one: {record['title']}", "\n".join(lines)]
    return ["## Where the time goes", *sections] if sections else []


def _failures(records: Sequence[Record]) -> list[str]:
    """What went wrong, with the last lines that the parts printed."""
    sections = []
    for record in records:
        if record["status"].startswith(("failed", "stopped", "interrupted")):
            lines = [*record.get("last_lines", []), *record.get("errors", [])]
            said = "\n".join(["```", *lines, "```"]) if lines else "It printed nothing."
            command = " ".join(record["command"])
            sections += [f"### {record['title']}: {record['status']}", f"`{command}`", said]
    return ["## What went wrong", *sections] if sections else []
