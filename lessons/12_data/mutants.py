"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? as_many_of_each_class: Every class gives as many images, however large it is.
def hold_out(labels, count, seed):
    order = np.random.default_rng(seed).permutation(len(labels))
    rank = np.array([(labels[order[:i]] == labels[j]).sum() for i, j in enumerate(order)])
    order = order[np.argsort(rank, kind="stable")]
    return np.sort(order[count:]), np.sort(order[:count])

? edge_repeated: The edge is shown twice: numpy calls that symmetric, not reflect.
def crop_and_flip(images, indices, down, right, flip):
    H, W = images.shape[1:3]
    rows, columns = np.arange(H) + down[:, None], np.arange(W) + right[:, None]
    columns = np.where(flip[:, None], columns[:, ::-1], columns)
    rows, columns = fold(rows, H), fold(columns, W)
    return images[indices[:, None, None], rows[:, :, None], columns[:, None, :]]

def fold(index, size):
    index = np.where(index < 0, -1 - index, index)
    return np.where(index >= size, 2 * size - 1 - index, index)

? few_images_expose_nobody: So few images that both draws agree on all of them.
- return "remembers the noise", np.random.default_rng(0).normal(size=(60, 2, 3))
+ return "remembers the noise", np.random.default_rng(0).normal(size=(20, 2, 3))

? first_of_every_class: The first images of every class are held out, whatever the seed.
def hold_out(labels, count, seed):
    held_out = [
        np.flatnonzero(labels == name)[: (labels[solution.hold_out(labels, count, seed)[1]] == name).sum()]
        for name in np.unique(labels)
    ]
    held_out = np.sort(np.concatenate(held_out))
    return np.setdiff1d(np.arange(len(labels)), held_out), held_out

? folded_at_the_top_only: Rows beyond the last one show the last one.
def crop_and_flip(images, indices, down, right, flip):
    H, W = images.shape[1:3]
    rows = np.minimum(abs(np.arange(H) + down[:, None]), H - 1)
    columns = np.arange(W) + right[:, None]
    columns = np.where(flip[:, None], columns[:, ::-1], columns)
    columns = W - 1 - abs(W - 1 - abs(columns))
    return images[indices[:, None, None], rows[:, :, None], columns[:, None, :]]

? gradient_through_everything: The backward hands on the gradient of dropped images too.
def drop_path_backward(dy, cache):
    return dy if cache is None else dy * cache.max()

? kept_with_probability_rate: rate is taken for the probability to keep.
def drop_path(x, rate, noise):
    if noise is None or rate == 0:
        return x, None
    mask = (noise.uniform((x.shape[0], 1, 1), np) < rate).astype(x.dtype) / rate
    return x * mask, mask

? last_pixel_repeated: Beyond the edge, the window sees the last pixel again and again, not the image
  mirrored.
def crop_and_flip(images, indices, down, right, flip):
    H, W = images.shape[1:3]
    rows, columns = np.arange(H) + down[:, None], np.arange(W) + right[:, None]
    columns = np.where(flip[:, None], columns[:, ::-1], columns)
    rows, columns = np.clip(rows, 0, H - 1), np.clip(columns, 0, W - 1)
    return images[indices[:, None, None], rows[:, :, None], columns[:, None, :]]

? mask_in_float64: The mask is made in float64, and everything after it too.
def drop_path(x, rate, noise):
    y, mask = solution.drop_path(x, rate, noise)
    return (y, None) if mask is None else (x * mask.astype(np.float64), mask.astype(np.float64))

? mask_of_y: The backward guesses the mask from y, and takes an image of zeros for a dropped one.
def drop_path(x, rate, noise):
    y, mask = solution.drop_path(x, rate, noise)
    return y, None if mask is None else (y != 0).astype(x.dtype) / (1 - rate)

? mask_spoiled: The backward writes dx into the mask that the forward has kept.
def drop_path(x, rate, noise):
    y, mask = solution.drop_path(x, rate, noise)
    return y, None if mask is None else mask + 0 * x

def drop_path_backward(dy, cache):
    if cache is None:
        return dy
    cache *= dy
    return cache

? mirrored_first: The image is mirrored before the window is cut, so that a shift to the right goes left.
def crop_and_flip(images, indices, down, right, flip):
    return solution.crop_and_flip(images, indices, down, np.where(flip, -right, right), flip)

? moved_the_other_way: The window moves up and to the left where it should move down and to the right.
def crop_and_flip(images, indices, down, right, flip):
    return solution.crop_and_flip(images, indices, -down, -right, flip)

? not_by_class: The split is random, but not by class.
def hold_out(labels, count, seed):
    order = np.random.default_rng(seed).permutation(len(labels))
    return np.sort(order[count:]), np.sort(order[:count])

? not_enlarged: What is kept is not divided by 1 - rate.
def drop_path(x, rate, noise):
    if noise is None or rate == 0:
        return x, None
    mask = (noise.uniform((x.shape[0], 1, 1), np) >= rate).astype(x.dtype)
    return x * mask, mask

? one_window_for_all: Every image gets the window of the first: the batch moves as one.
def crop_and_flip(images, indices, down, right, flip):
    return solution.crop_and_flip(images, indices, 0 * down + down[0], 0 * right + right[0], flip)

? remainder_to_the_first: What rounding leaves over goes to the first classes, not to those that lost most.
- shares, lost = np.divmod(count * sizes, len(labels))
+ shares = count * sizes // len(labels)
- shares[np.argsort(-lost)[: count - shares.sum()]] += 1
+ shares[: count - shares.sum()] += 1

? rows_and_columns_swapped: The shifts are swapped: down moves the columns, and right the rows.
def crop_and_flip(images, indices, down, right, flip):
    H = images.shape[1]
    return solution.crop_and_flip(images, indices, right.clip(1 - H, H - 1), down, flip)

? shifts_spoiled: A shift is corrected in place, in the array that was given.
def crop_and_flip(images, indices, down, right, flip):
    batch = solution.crop_and_flip(images, indices, down, right, flip)
    down %= images.shape[1]
    return batch

? single_numbers_dropped: Numbers are dropped one by one: dropout, not stochastic depth.
def drop_path(x, rate, noise):
    if noise is None or rate == 0:
        return x, None
    mask = (noise.uniform(x.shape, np) >= rate).astype(x.dtype) / (1 - rate)
    return x * mask, mask

? wrapped_around: Over the edge comes the opposite side, as with np.roll.
def crop_and_flip(images, indices, down, right, flip):
    H, W = images.shape[1:3]
    rows, columns = (np.arange(H) + down[:, None]) % H, (np.arange(W) + right[:, None]) % W
    columns = np.where(flip[:, None], columns[:, ::-1], columns)
    return images[indices[:, None, None], rows[:, :, None], columns[:, None, :]]

? wrong_suspect: The backward that makes its mask again from the same seed is accused.
- return "remembers the noise", np.random.default_rng(0).normal(size=(60, 2, 3))
+ return "remembers the seed", np.random.default_rng(0).normal(size=(60, 2, 3))
"""
