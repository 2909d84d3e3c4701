"""Looking inside a model: what it draws from where, how far it looks, and what its weights have learned."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, Protocol

import numpy as np
from PIL import Image

from tinyvit import model as core
from tinyvit.backend import Array, array_module
from tinyvit.data import ImageSet
from tinyvit.engine import check_finite, in_batches
from tinyvit.insight.attention import (
    attention_distance,
    check_has_attention,
    class_token_attention,
    head_maps,
    rollout,
    uniform_distance,
)
from tinyvit.insight.filters import embedding_filters
from tinyvit.insight.positions import offset_scores, position_similarity
from tinyvit.model.later.merged_patches import as_all_tokens
from tinyvit.model.stage import backward_through, forward_through, infer_through, split_at_blocks
from tinyvit.ops import cross_entropy, cross_entropy_backward
from tinyvit.support.errors import UserError


class ArrayLike(Protocol):
    """An array, or what NumPy makes one of: a tensor of PyTorch, a column or table of pandas."""

    def __array__(self) -> np.ndarray: ...


Photo = str | os.PathLike[str] | bytes | BinaryIO | Image.Image
Images = ArrayLike | ImageSet | Photo | Sequence[Photo] | Sequence[ArrayLike] | Iterator[Photo]
Labels = Sequence[Any] | ArrayLike


class Looking(core.Model):
    """The part of tinyvit.Model that looks inside it. A ResNet on its own has no attention to look at.

    Images are those of Model. They are computed a few at a time, and of each only the result is kept.
    """

    probabilities: Callable[..., np.ndarray]  # of the classes (n, C) of images
    _pixels: Callable[..., np.ndarray]  # the images as uint8 pixels (n, H, W, 3)
    _pixels_and_numbers: Callable[..., tuple[np.ndarray, np.ndarray]]  # the same, and the labels (n,)
    _check_classifies: Callable[[], None]

    def attention(self, images: Images) -> np.ndarray:
        """The attention of each token to each other: (n, layers, heads, N, N); each row sums to 1.

        Token 0 is the class token, if there is one; the patches follow row by row. A ResNet has no attention.
        """

        def look(config: core.ViTConfig, params: core.Params, batch: Array) -> Array:
            return array_module(batch).stack(list(core.attention_maps(config, params, batch)), axis=1)

        return self._looked(look, images)

    def attention_map(self, images: Images) -> np.ndarray:
        """The attention of the class token to each patch in the last block, over all heads: (n, gh, gw).

        In other models it is the attention of the tokens that the head reads, such as all patches on average.
        """
        return self._looked(class_token_attention, images)

    def attention_picture(self, images: Images) -> Image.Image:
        """Each image, and beside it the image under its attention_map: bright is high. Notebooks show it."""
        from tinyvit.insight.pictures.attention import SeenPhoto, attention_overlay

        pixels = self._pixels(images)
        rows = zip(map(SeenPhoto.seen_whole, pixels), self.attention_map(pixels), strict=True)
        return Image.fromarray(np.concatenate([attention_overlay(*row) for row in rows]))

    def head_maps(self, images: Images) -> np.ndarray:
        """attention_map for each head of each block: (n, layers, heads, gh, gw); each map sums to 1."""
        return self._looked(head_maps, images)

    def rollout(self, images: Images) -> np.ndarray:
        """The share of each patch in the answer, through all blocks: (n, gh, gw); each image sums to 1."""
        return self._looked(rollout, images)

    def attention_distance(self, images: Images) -> np.ndarray:
        """The mean attention distance of each head, in pixels of the model's images: (n, layers, heads)."""
        return self._looked(attention_distance, images)

    def uniform_distance(self) -> float:
        """The attention distance in pixels of a head that draws the same from everywhere."""
        check_has_attention(self.config)
        return uniform_distance(self.config)

    def activations(self, images: Images, blocks: Sequence[int] | None = None) -> np.ndarray:
        """The tokens that leave these blocks, all of them by default: (n, blocks, N, D).

        Blocks count from 0, or backwards from -1, the last. The tokens are in the order of attention; those
        of the last block have not yet passed the final LayerNorm. Once patches are merged, each of four has
        the token that they have become.
        """
        try:
            numbers = range(self.config.layers if self.config.has_transformer else 0)
            chosen = [numbers[block] for block in (numbers if blocks is None else blocks)]
        except (IndexError, TypeError):
            chosen = []
        if not chosen:
            raise UserError(
                f"blocks is {blocks!r}, expected a list of numbers of blocks, of which this model has "
                f"{len(numbers)}: they count from 0, or backwards from -1."
            )

        def look(config: core.ViTConfig, params: core.Params, batch: Array) -> Array:
            stem, all_blocks, _ = split_at_blocks(core.stages(config, all_tokens=True))
            x, after = infer_through(stem, params, batch), []
            for each in all_blocks[: max(chosen) + 1]:
                x = each.forward(params, x)[0]  # (B, N, D)
                after.append(as_all_tokens(config, x))
            return array_module(batch).stack([after[block] for block in chosen], axis=1)

        return self._looked(look, images)

    def input_gradient(self, images: Images, labels: Labels | None = None) -> np.ndarray:
        """The gradient of the loss of each image with respect to its pixels, 0 to 1: (n, H, W, 3).

        The loss is the cross-entropy with its label. The pixels are those of the model's size, to which other
        images are resized first. abs(gradient).max(axis=3) is a map of saliency; pixels that go a small step
        along numpy.sign(gradient) are an adversarial example (Goodfellow et al. 2014).
        """
        from tinyvit.model.later.resnet import root_stage  # training does without its gradient of the images

        self._check_classifies()
        stages = core.stages(self.config)
        stages = [root_stage(self.config, True) if each.name == "resnet.root" else each for each in stages]
        pixels, numbers = self._pixels_and_numbers(images, labels)
        targets, grads = array_module(self.params.flat).asarray(numbers), self.params.zeros_like()

        def look(batch: Array, labels: Array) -> Array:
            logits, caches = forward_through(stages, self.params, batch)
            _, loss_cache = cross_entropy(logits, labels)
            dlogits = cross_entropy_backward(loss_cache) * len(batch)  # the losses are added, not averaged
            dx = backward_through(stages, dlogits, caches, grads)
            return 2 * dx  # normalised, 0 to 1 is -1 to 1

        return check_finite(in_batches(look, self.config, self.params, pixels, targets))

    def filters(self, count: int = 28) -> np.ndarray:
        """The patterns that the patch embedding responds to most, strongest first: (count, P, P, 3).

        There are at most as many as a patch has numbers, or as the embedding has outputs. With a ResNet, the
        patch is a window of its root, 7 x 7, and the outputs are those of the root.
        """
        if not isinstance(count, int | np.integer) or count < 1:
            raise UserError(f"count is {count!r}, expected a whole number, 1 or more.")
        return embedding_filters(self.config, self.params, count)

    def position_similarity(self, block: int = 0) -> np.ndarray:
        """The cosine of the position embeddings of every pair of patches: (gh, gw, gh, gw).

        block is the one whose positions are meant, if every block has its own.
        """
        there_is = isinstance(block, int | np.integer) and 0 <= block < self.config.layers
        similarity = position_similarity(self.config, self.params, block if there_is else 0)
        if similarity is None:
            raise UserError(f"with position {self.config.position}, no vector belongs to a patch.")
        if not there_is:
            raise UserError(f"block is {block!r}, expected a number from 0 to {self.config.layers - 1}.")
        return similarity

    def offset_scores(self) -> np.ndarray:
        """The scores that each head gives to offsets in the plane: (layers, heads, 2 gh - 1, 2 gw - 1).

        Only a model with relative positions has them.
        """
        scores = offset_scores(self.config, self.params)
        if scores is None:
            raise UserError(f"position is {self.config.position!r}: only 'relative' has scores of offsets.")
        return scores

    def _looked(self, look: Callable[..., Array], images: Images) -> np.ndarray:
        """look(config, params, batch) for all images, a batch at a time."""
        check_has_attention(self.config)
        compute = lambda batch: look(self.config, self.params, batch)
        return check_finite(in_batches(compute, self.config, self.params, self._pixels(images)))
