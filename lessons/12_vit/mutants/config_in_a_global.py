"""The backward takes the config of whichever model ran last."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "written_out.py",
        (
            "def forward(config, params, images):\n",
            'LAST = {}\n\n\ndef forward(config, params, images):\n    LAST["config"] = config\n',
        ),
        (
            "    config, patch, blocks, norm, pool, hidden, head = cache\n",
            '    _, patch, blocks, norm, pool, hidden, head = cache\n    config = LAST["config"]\n',
        ),
    )
)
