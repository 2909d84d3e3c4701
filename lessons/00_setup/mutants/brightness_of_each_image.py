"""The channels are averaged as well: one number an image."""


def mean_colours(images):
    return images.mean(axis=(1, 2, 3))
