"""What was measured on a GPU, as a person reads it."""

from __future__ import annotations

import numpy as np


def gpu_table(result: dict) -> str:
    """The table for what on_gpu.measure gives."""
    case = result["case"]
    what = "training step" if case["mode"] == "train" else "inference"
    lines = [
        f"{case['model']} at {case['image_size']} px, batch {case['batch']:,}, {what}, {case['precision']}, "
        f"{result['device']}",
        "",
        f"{'':40}{'ms/step':>10}{'img/s':>12}{'peak memory':>14}",
    ]
    lines += [
        f"{side['name']:40}{side['ms_per_step']:10.3f}{side['images_per_second']:12,.0f}"
        f"{side['peak_bytes'] / 1e6:11,.0f} MB"
        for side in result["sides"]
    ]
    if "predicted_ms_per_step" in result:
        lines.append(f"{'predicted':40}{result['predicted_ms_per_step']:10.3f}")
        lines += ["", f"{100 * result['share_of_roofline']:.0f} % of the roofline"]
    for name, values in result["ratios"].items():
        lines.append(
            f"tinyvit is {np.median(values):.2f} times as fast as {name}: median of {len(values)} pairs, "
            f"from {min(values):.2f} to {max(values):.2f}"
        )
    lines += [
        f"PyTorch {name}: {f'{ms:.3f} ms/step in its trial' if ms else 'failed'}"
        for name, ms in result["pytorch_trials_ms"].items()
    ]
    return "\n".join(lines + _kernels(result.get("kernels", [])))


def _kernels(rows: list[dict]) -> list[str]:
    if not rows:
        return []
    whole = sum(row["seconds"] for row in rows)
    lines = [
        "",
        f"{'one by one, outside the graph':30}{'launches':>9}{'MB':>10}{'µs':>9}{'share':>8}"
        f"{'predicted':>11}{'of roofline':>13}",
    ]
    for row in rows:
        line = (
            f"{row['name']:30}{row['launches']:9,}{row['bytes_moved'] / 1e6:10,.1f}"
            f"{1e6 * row['seconds']:9,.1f}{100 * row['seconds'] / whole:7.1f}%"
        )
        if "predicted_seconds" in row:
            line += f"{1e6 * row['predicted_seconds']:11,.1f}{100 * row['share_of_roofline']:12.0f}%"
        lines.append(line)
    return lines
