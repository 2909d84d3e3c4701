"""Write words/: a small random CLIP of transformers, with a vocabulary learned from this repository's README;
the ids that its tokenizer gives for texts of every kind; and what the model makes of texts and images. Needs
torch and transformers; run by hand:

    python -m tests.golden.make_words_golden
"""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
import transformers

from tests.golden.torch_library import randomise
from tinyvit.weights.text import _BYTES, END, START, split_words

FOLDER = Path(__file__).parent / "words"
MERGES = 300
CLASSES = ["a cat", "dog", "diagram of a ViT"]
ODD = [
    "A Photo of a CAT, isn't it?", "we'll  pay 1234€ for 2½ \t naïve Straßen", "中文字 and हिन्दी",
    "😀👍🏽 e\u0301", "", " ", "İstanbul ②²", "don’t 'quote' x'll", "<|endoftext|> within", "a" * 200,
    "ab-cd_ef/gh (ij) [kl]!!!",
]  # fmt: skip


def learned_merges(text):
    """The most common pairs, merged one after the other."""
    words = Counter()
    for word in split_words(text):
        symbols = [_BYTES[byte] for byte in word.encode()]
        words[(*symbols[:-1], symbols[-1] + "</w>")] += 1
    merges = []
    for _ in range(MERGES):
        pairs = Counter()
        for word, count in words.items():
            for pair in pairwise(word):
                pairs[pair] += count
        merges.append(max(pairs, key=lambda pair: (pairs[pair], pair)))
        words = Counter({merged(word, merges[-1]): count for word, count in words.items()})
    return merges


def merged(word, pair):
    """A word with this pair of symbols made into one, wherever it is."""
    result, i = [], 0
    while i < len(word):
        together = word[i : i + 2] == pair
        result.append("".join(pair) if together else word[i])
        i += 2 if together else 1
    return tuple(result)


def main():
    """Write the files."""
    text = Path("README.md").read_text(encoding="utf-8")
    merges = learned_merges(text)
    tokens = dict.fromkeys([*_BYTES, *(byte + "</w>" for byte in _BYTES), *map("".join, merges), START, END])
    numbers = {token: i for i, token in enumerate(tokens)}
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "vocab.json").write_text(json.dumps(numbers), encoding="utf-8")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges), ""]
    (FOLDER / "merges.txt").write_text("\n".join(lines), encoding="utf-8")
    tokenizer = transformers.CLIPTokenizer(vocab=numbers, merges=merges)
    rng = np.random.default_rng(0)
    words = text.split()
    texts = [*ODD, *(" ".join(rng.choice(words, 6)) for _ in range(40))]
    ids = {each: tokenizer(each, truncation=True, max_length=20)["input_ids"] for each in texts}
    (FOLDER / "ids.json").write_text(json.dumps(ids), encoding="utf-8")

    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20}
    ends = {"bos_token_id": numbers[START], "eos_token_id": numbers[END], "pad_token_id": numbers[END]}
    config = transformers.CLIPConfig(
        vision_config=sizes | {"hidden_size": 16, "patch_size": 4, "image_size": 12},
        text_config=sizes
        | {"hidden_size": 8, "vocab_size": len(numbers), "max_position_embeddings": 20}
        | ends,
        projection_dim=6,
    )
    model = randomise(transformers.CLIPModel(config), 1)
    model.save_pretrained(FOLDER)
    photos = {"image_processor_type": "CLIPImageProcessor", "size": 12, "crop_size": 12}
    photos |= {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    (FOLDER / "preprocessor_config.json").write_text(json.dumps(photos) + "\n", encoding="utf-8")
    images = rng.integers(0, 256, (4, 12, 12, 3), dtype=np.uint8)
    pixels = torch.from_numpy((images / 127.5 - 1).astype("float32").transpose(0, 3, 1, 2).copy())
    asked = tokenizer([f"a photo of a {name}." for name in CLASSES], padding=True, return_tensors="pt")
    with torch.no_grad():
        probabilities = model(pixel_values=pixels, **asked).logits_per_image.softmax(1).numpy()
    np.savez_compressed(FOLDER / "answers.npz", images=images, probabilities=probabilities)
    for other in ("generation_config.json",):
        (FOLDER / other).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
