"""The right shape out of the wrong order: rows of memory instead of channels."""


def mean_colours(images):
    return images.reshape(len(images), 3, -1).mean(axis=2)
