"""The places of keys that do not exist are left as they are."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "            keys[i / K][i % K] = real ? k[first * K + i] : 0;\n"
            "            values[i / K][i % K] = real ? v[first * K + i] : 0;\n",
            "            if (!real) continue;\n"
            "            keys[i / K][i % K] = k[first * K + i];\n"
            "            values[i / K][i % K] = v[first * K + i];\n",
        ),
    )
)
