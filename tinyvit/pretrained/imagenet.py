"""The names of the 1000 classes of ImageNet (ILSVRC 2012), in the order of the logits of published heads.

The names are the words of each class's synset in WordNet 3.0 (Princeton University), most common first.
"""

from pathlib import Path


def imagenet_classes() -> tuple[str, ...]:
    """The names, from 'tench, Tinca tinca' to 'toilet tissue, toilet paper, bathroom tissue'."""
    return tuple((Path(__file__).parent / "imagenet_classes.txt").read_text("utf-8").splitlines())
