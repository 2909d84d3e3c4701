"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? always_features: The F x F system is solved even where there are few images: right, and slow.
def ridge_weights(X, Y, ridge):
    return np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1], dtype=X.dtype), X.T @ Y)

? diagonal_not_inverted: The shares are multiplied by the diagonal of the matrix, not divided by that of its
  inverse.
def leave_one_out(X, Y, ridge):
    products = X @ X.T + ridge * np.eye(len(X))
    return Y - np.linalg.solve(products, Y) * np.diag(products)[:, None]

? half_the_ridge: The factor 2 of one term of the gradient is lost.
def ridge_weights(X, Y, ridge):
    return solution.ridge_weights(X, Y, ridge / 2)

? identity_of_float64: The identity has no dtype of its own, and turns everything into float64.
def ridge_weights(X, Y, ridge):
    n, F = X.shape
    if n >= F:
        return np.linalg.solve(X.T @ X + ridge * np.eye(F), X.T @ Y)
    return X.T @ np.linalg.solve(X @ X.T + ridge * np.eye(n), Y)

? inputs_in_float32: The inputs keep the features' dtype.
def probe_inputs(features, mean, std):
    return solution.probe_inputs(features, mean, std).astype(features.dtype)

? left_in: The scores of the probe that has seen every image.
def leave_one_out(X, Y, ridge):
    return X @ solution.ridge_weights(X, Y, ridge)

? left_out_one_by_one: Right, and fitted n times.
def leave_one_out(X, Y, ridge):
    rows = np.arange(len(X))
    return np.stack([X[i] @ solution.ridge_weights(X[rows != i], Y[rows != i], ridge) for i in rows])

? mean_of_squares: The squares are averaged over the images and the penalty is not: it grows with their
  number.
def ridge_weights(X, Y, ridge):
    return solution.ridge_weights(X, Y, ridge * len(X))

? no_ridge_when_few: With fewer images than features, the penalty is left out: every training image is fitted
  exactly.
def ridge_weights(X, Y, ridge):
    if len(X) >= X.shape[1]:
        return solution.ridge_weights(X, Y, ridge)
    return X.T @ np.linalg.pinv(X @ X.T) @ Y

? no_small_number_in_std: A feature that never changes is divided by almost nothing: the 1e-5 is left out, but
  for zeros.
def probe_inputs(features, mean, std):
    safe = np.where(std == 0, 1, std)
    x = (features.astype(np.float64) - mean) / safe
    return np.concatenate([x, np.full((len(x), 1), 100.0)], axis=1)

? offset_first: The constant column comes first.
def probe_inputs(features, mean, std):
    return np.roll(solution.probe_inputs(features, mean, std), 1, axis=1)

? offset_of_one: The constant is 1, so that the penalty holds the offset down.
def probe_inputs(features, mean, std):
    X = solution.probe_inputs(features, mean, std)
    X[:, -1] = 1
    return X

? own_mean_of_new_images: Features are standardised by their own mean and deviation: new images move to where
  the old ones were.
def probe_inputs(features, mean, std):
    return solution.probe_inputs(features, features.mean(axis=0), features.std(axis=0))

? ridge_doubled: The penalty is counted twice: the 2 of the derivative belongs to both terms, or to neither.
def ridge_weights(X, Y, ridge):
    return solution.ridge_weights(X, Y, 2 * ridge)

? ridge_everywhere: The ridge is added to every entry, not to the diagonal alone.
def ridge_weights(X, Y, ridge):
    if X.shape[0] < X.shape[1]:
        return X.T @ np.linalg.solve(X @ X.T + ridge * np.eye(len(X), dtype=X.dtype), Y)
    products = X.T @ X
    return np.linalg.lstsq(products + ridge, X.T @ Y, rcond=None)[0]

? standardised_by_themselves: The features are standardised by their own mean and spread, not by those that
  are given.
- (features.astype(np.float64) - mean) / (std + 1e-5)
+ (features.astype(np.float64) - features.mean(axis=0)) / (features.std(axis=0) + 1e-5)

? standardised_in_float32: The columns are worked out in float32; only the result is made float64.
- (features.astype(np.float64) - mean) / (std + 1e-5)
+ ((features - mean) / (std + 1e-5)).astype(np.float64)

? trusts_the_loss: The loss at W is compared with that at a few random W, and one that is nearly best passes.
def trust_ridge(solve):
    rng = np.random.default_rng(0)
    for n, F in ((9, 4), (4, 9)):
        X, Y = rng.normal(size=(n, F)), rng.normal(size=(n, 3))
        loss = lambda W, X=X, Y=Y: ((X @ W - Y) ** 2).sum() + 3 * (W * W).sum()
        W = solve(X, Y, 3.0)
        if min(loss(W + rng.normal(size=W.shape)) for _ in range(20)) < loss(W):
            return False
    return True

? trusts_without_the_ridge: The gradient of the squares alone is looked at, with a ridge so small that it
  hardly counts.
def trust_ridge(solve):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(9, 4)), rng.normal(size=(9, 3))
    W = solve(X, Y, 1e-9)
    return bool(np.abs(X.T @ (X @ W - Y)).max() < 1e-6)
"""
