"""What was measured on a GPU, as a person reads it."""

import numpy as np


def gpu_table(result: dict) -> str:
    """The table for what on_gpu.measure gives."""
    lines = [
        f"{_title(result['case'])}, {result['device']}",
        "",
        f"{'':40}{'ms/step':>10}{'img/s':>12}{'peak memory':>14}",
    ]
    lines += [
        f"{side['name']:40}{side['ms_per_step']:10.3f}{side['images_per_second']:12,.0f}"
        f"{side['peak_bytes'] / 1e6:11,.0f} MB"
        for side in result["sides"]
    ]
    if "share_of_roofline" in result:
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


def roofline_table(result: dict) -> str:
    """The table for what on_gpu.predict gives."""
    lines = [
        f"{_title(result['case'])}, on the card {result['card']}",
        f"by its data sheet at least {result['least_ms_per_step']:.3f} ms, at most "
        f"{result['images_per_second']:,.0f} images/s; not measured",
    ]
    return "\n".join(lines + _kernels(result["kernels"]))


def _title(case: dict) -> str:
    what = "training step" if case["mode"] == "train" else "inference"
    return f"{case['model']} at {case['image_size']} px, batch {case['batch']:,}, {what}, {case['precision']}"


def _kernels(rows: list[dict]) -> list[str]:
    if not rows:
        return []
    measured, bounded = "seconds" in rows[0], "least_seconds" in rows[0]
    lines = [
        "",
        f"{'one by one, outside the graph' if measured else '':30}{'launches':>9}{'MB':>10}"
        + (f"{'µs':>9}" if measured else "")
        + (f"{'at least':>11}" if bounded else ""),
    ]
    for row in rows:
        line = f"{row['name']:30}{row['launches']:9,}{row['bytes_moved'] / 1e6:10,.1f}"
        line += f"{1e6 * row['seconds']:9,.1f}" if measured else ""
        line += f"{1e6 * row['least_seconds']:11,.1f}" if bounded else ""
        lines.append(line)
    return lines
