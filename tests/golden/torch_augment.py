"""The augmentation of a batch by recipes, in PyTorch and with its random numbers. Needs torch."""

import math

import torch
from torch.nn import functional


def batches(count, size, repeats):
    """The indices (size,) of the images of each batch of an epoch; what is left for the last is not used."""
    order = torch.randperm(count)[: -(-count // repeats)].repeat_interleave(repeats)[:count]
    for chosen in order.split(size):
        if len(chosen) == size:
            yield torch.cat([chosen[k::repeats] for k in range(repeats)])


def normalised(pixels, dtype):
    """Bytes 0..255 to -1..1."""
    return pixels.to(dtype) / 127.5 - 1


def augmented(images, labels, settings, classes):
    """Normalised images (B, H, W, 3) as the settings have them changed, and labels (B,) or, if images are
    mixed, targets (B, classes).
    """
    s = settings
    images = flipped(images) if s.flip else images
    images = cropped(images, s.crop_padding) if s.crop_padding else images
    images = torch.stack([erased(image) if torch.rand(()) < s.erase else image for image in images])
    if not (s.mixup or s.cutmix):
        return images, labels
    return mixed(images, functional.one_hot(labels, classes).to(images.dtype), s.mixup, s.cutmix)


def flipped(images):
    """Half of the images mirrored."""
    return torch.where(torch.rand(len(images), 1, 1, 1) < 0.5, images.flip(2), images)


def cropped(images, padding):
    """Each image cut out of itself padded by reflection, anywhere."""
    H, W = images.shape[1:3]
    wide = functional.pad(images.permute(0, 3, 1, 2), [padding] * 4, mode="reflect").permute(0, 2, 3, 1)
    corners = torch.randint(2 * padding + 1, (len(images), 2)).tolist()
    return torch.stack([each[i : i + H, j : j + W] for each, (i, j) in zip(wide, corners, strict=True)])


def erased(image):
    """An image (H, W, 3) with noise in a rectangle of 2 % to 33 % of it, 0.3 to 3.3 times as high as wide."""
    H, W, _ = image.shape
    area = torch.empty(()).uniform_(0.02, 1 / 3).item() * H * W
    aspect = math.exp(torch.empty(()).uniform_(math.log(0.3), -math.log(0.3)).item())
    h, w = min(H, round(math.sqrt(area * aspect))), min(W, round(math.sqrt(area / aspect)))
    i, j = (torch.randint(size + 1, ()).item() for size in (H - h, W - w))
    result = image.clone()
    result[i : i + h, j : j + w].uniform_(-1, 1)
    return result


def mixed(images, targets, mixup, cutmix):
    """Each image blended with the next one, or with a rectangle of it pasted in, and the targets alike.

    mixup and cutmix are the alpha of each method, 0 without it; with both, a coin decides for each image.
    """
    B, H, W, _ = images.shape
    pasted = torch.rand(B) < (cutmix > 0) / ((mixup > 0) + (cutmix > 0))
    alpha = torch.where(pasted, cutmix, mixup).to(images.dtype)
    lam = torch.distributions.Beta(alpha, alpha).sample()
    rectangle = within(H, lam)[:, :, None] & within(W, lam)[:, None, :]
    weight = torch.where(pasted[:, None, None], rectangle, 1 - lam[:, None, None]).to(images.dtype)
    share = weight.mean(dim=(1, 2))[:, None]
    return (
        torch.lerp(images, images.roll(-1, 0), weight[..., None]),
        torch.lerp(targets, targets.roll(-1, 0), share),
    )


def within(size, lam):
    """True for each of `size` pixels in a row that is in a stretch of sqrt(1 - lam) of them: (B, size)."""
    centre = (torch.rand(len(lam), 1) * size).long()
    half = (torch.sqrt(1 - lam) * size).long()[:, None] // 2
    pixel = torch.arange(size)
    return (pixel >= centre - half) & (pixel < centre + half)
