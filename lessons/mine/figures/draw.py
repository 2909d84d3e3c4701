"""Draw this page's figure, the map after lesson 6: python -m lessons.mine.figures.draw"""

from pathlib import Path

from lessons.diagram import draw_mine
from lessons.mine.operations import BY_NAME

YOURS = ("normalise", "linear", "softmax backward", "MLP", "GELU", "cross-entropy", "patches", "class token")
YOURS += ("position embedding", "one head", "attention")


def main():
    """Draw map.png: eleven operations that are right, and one that is not."""
    yours = {part for name in YOURS for part in BY_NAME[name].parts}
    draw_mine(yours, BY_NAME["LayerNorm"].parts).save(Path(__file__).parent / "map.png")


if __name__ == "__main__":
    main()
