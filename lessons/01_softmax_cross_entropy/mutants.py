"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? cache_spoiled: p is turned into the gradient in place, so that a second backward subtracts the targets
  again.
def cross_entropy_backward(cache):
    p, t = cache
    p -= t
    p *= 1 / len(p)
    return p

? clipped_probabilities: Probabilities below 1e-12 are lifted, so that a hopeless row costs 27.6 and no more.
def cross_entropy(logits, targets, smoothing=0.0):
    _, (p, t) = solution.cross_entropy(logits, targets, smoothing)
    return -(t * np.log(np.maximum(p, logits.dtype.type(1e-12)))).sum(axis=1).mean(), (p, t)

? constant_cancelled_late: The maximum is used for the exp only: the digits are lost when two large numbers
  are subtracted.
def cross_entropy(logits, targets, smoothing=0.0):
    _, (p, t) = solution.cross_entropy(logits, targets, smoothing)
    highest = logits.max(axis=1, keepdims=True)
    total = np.exp(logits - highest).sum(axis=1)
    return (np.log(total) + highest[:, 0] - (t * logits).sum(axis=1)).mean(), (p, t)

? first_maximum_for_all: The maximum of the first piece is taken off all later ones.
def log_sum_exp_in_pieces(pieces):
    highest, total = None, 0.0
    for piece in pieces:
        highest = piece.max(axis=1) if highest is None else highest
        total = total + np.exp(piece - highest[:, None]).sum(axis=1)
    return highest + np.log(total)

? gradient_of_the_sum: The gradient of the sum over the batch, for a loss that is the mean.
def cross_entropy_backward(cache):
    p, t = cache
    return p - t

? guilty_by_reading: The right name, with targets that are distributions: on those all three agree.
def guilty_cross_entropy():
    name, (logits, targets) = solution.guilty_cross_entropy()
    return name, (logits, targets / targets.sum(axis=1, keepdims=True))

? jacobian_without_its_diagonal: What x_i does to its own y_i is left out: the 1 on the diagonal of the
  Jacobian, the lone dy.
def softmax_backward(dy, cache):
    return -cache * (dy * cache).sum(axis=-1, keepdims=True)

? log_of_the_softmax: Equation 2 to the letter: the logarithm of a probability that has become 0.
def cross_entropy(logits, targets, smoothing=0.0):
    C = logits.shape[1]
    t = targets if targets.ndim == 2 else targets[:, None] == np.arange(C)
    t = t.astype(logits.dtype) * (1 - smoothing) + smoothing / C
    exp = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = exp / exp.sum(axis=1, keepdims=True)
    return -(t * np.log(p)).sum(axis=1).mean(), (p, t)

? no_maximum: The row's maximum is not subtracted.
def cross_entropy(logits, targets, smoothing=0.0):
    C = logits.shape[1]
    t = targets if targets.ndim == 2 else targets[:, None] == np.arange(C)
    t = t.astype(logits.dtype) * (1 - smoothing) + smoothing / C
    exp = np.exp(logits)
    total = exp.sum(axis=1, keepdims=True)
    return (np.log(total[:, 0]) - (t * logits).sum(axis=1)).mean(), (exp / total, t)

? one_maximum_for_all_rows: The maximum of the whole batch is subtracted, so that a row far below it vanishes.
def cross_entropy(logits, targets, smoothing=0.0):
    C = logits.shape[1]
    t = targets if targets.ndim == 2 else targets[:, None] == np.arange(C)
    t = t.astype(logits.dtype) * (1 - smoothing) + smoothing / C
    z = logits - logits.max()
    exp = np.exp(z)
    total = exp.sum(axis=1, keepdims=True)
    return (np.log(total[:, 0]) - (t * z).sum(axis=1)).mean(), (exp / total, t)

? only_the_diagonal: Softmax taken for an elementwise function, like the sigmoid: y (1 - y).
def softmax_backward(dy, cache):
    return dy * cache * (1 - cache)

? pieces_collected: All pieces are collected first, though each is written over the one before.
def log_sum_exp_in_pieces(pieces):
    x = np.concatenate(list(pieces), axis=1)
    highest = x.max(axis=1, keepdims=True)
    return highest[:, 0] + np.log(np.exp(x - highest).sum(axis=1))

? shared_among_the_others: The other classes share the smoothing, s / (C - 1) each, and the right one gets
  none of it.
def cross_entropy(logits, targets, smoothing=0.0):
    C = logits.shape[1]
    t = np.eye(C, dtype=logits.dtype)[targets] if targets.ndim == 1 else targets.astype(logits.dtype)
    return solution.cross_entropy(logits, (1 - smoothing) * t + smoothing / (C - 1) * (1 - t))

? shared_among_the_rows: Smoothing by s / B instead of s / C.
def cross_entropy(logits, targets, smoothing=0.0):
    _, (_, t) = solution.cross_entropy(logits, targets)
    return solution.cross_entropy(logits, t * (1 - smoothing) + smoothing / len(logits))

? smoothing_added_on_top: s / C is added, but the target itself is not made smaller.
def cross_entropy(logits, targets, smoothing=0.0):
    C = logits.shape[1]
    t = targets if targets.ndim == 2 else targets[:, None] == np.arange(C)
    t = t.astype(logits.dtype) + smoothing / C
    z = logits - logits.max(axis=1, keepdims=True)
    exp = np.exp(z)
    total = exp.sum(axis=1, keepdims=True)
    return (np.log(total[:, 0]) - (t * z).sum(axis=1)).mean(), (exp / total, t)

? smoothing_only_for_labels: Soft targets are left as they are.
def cross_entropy(logits, targets, smoothing=0.0):
    return solution.cross_entropy(logits, targets, smoothing if targets.ndim == 1 else 0.0)

? soft_targets_smoothed_in_place: The caller's soft targets are smoothed in place.
def cross_entropy(logits, targets, smoothing=0.0):
    if targets.ndim == 2 and targets.dtype == logits.dtype:
        targets *= 1 - smoothing
        targets += smoothing / logits.shape[1]
        return solution.cross_entropy(logits, targets)
    return solution.cross_entropy(logits, targets, smoothing)

? sum_over_everything: The sum in softmax backward runs over the whole array instead of over each row.
def softmax_backward(dy, cache):
    return cache * (dy - (dy * cache).sum())

? sum_over_the_second_axis: The sum runs over axis 1, which is the last one only where there are two.
def softmax_backward(dy, cache):
    axis = min(1, dy.ndim - 1)
    return cache * (dy - (dy * cache).sum(axis=axis, keepdims=True))

? targets_cached_before_smoothing: The backward is given the targets as they were before smoothing.
def cross_entropy(logits, targets, smoothing=0.0):
    loss, _ = solution.cross_entropy(logits, targets, smoothing)
    _, cache = solution.cross_entropy(logits, targets)
    return loss, cache

? targets_in_float64: One-hot rows out of numpy.eye, which is float64 whatever the logits are.
def cross_entropy(logits, targets, smoothing=0.0):
    t = np.eye(logits.shape[1])[targets] if targets.ndim == 1 else targets
    loss, (p, _) = solution.cross_entropy(logits, t, smoothing)
    return loss, (p, t * (1 - smoothing) + smoothing / logits.shape[1])

? whole_numbers_promote: Soft targets keep their dtype: whole numbers turn float32 into float64.
def cross_entropy(logits, targets, smoothing=0.0):
    if targets.ndim == 1:
        return solution.cross_entropy(logits, targets, smoothing)
    if targets.dtype.kind == "f":
        return solution.cross_entropy(logits, targets, smoothing)
    t = targets * (1 - smoothing) + smoothing / logits.shape[1]
    loss, (p, _) = solution.cross_entropy(logits, targets, smoothing)
    return loss, (p, t)
"""
