"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? absolute_error: The distance is not divided by the size.
def gradient_error(by_hand, numerical):
    return float(np.linalg.norm(by_hand - numerical))

? all_close: numpy.allclose with its own tolerances, which are ten times too generous.
- if not gradient_error(by_hand, numerical) < TOLERANCE:
+ if not np.allclose(by_hand, numerical):

? all_numbers_moved_at_once: All numbers are moved at once, so that every slope is that of their sum.
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError(f"x is {x.dtype}, expected float64")
    kept = x.copy()
    x[...] = kept + step
    above = loss()
    x[...] = kept - step
    below = loss()
    x[...] = kept
    return np.full_like(x, (above - below) / (2 * step))

? an_ordinary_input: The right name, with rows of four numbers, on which all three agree.
def guilty_pick():
    return solution.guilty_pick()[0], np.arange(12.0).reshape(3, 4)

? dy_of_ones: The loss is the sum of the outputs: a dy of ones.
def wrong_backwards(suspects, rng):
    wrong = []
    for name, (forward, backward, inputs) in suspects.items():
        y, cache = forward(*inputs)
        dy = np.ones_like(y)
        gradients = backward(dy, cache)
        errors = [0.0 if len(gradients) == len(inputs) else 1.0]
        for x, by_hand in zip(inputs, gradients, strict=False):
            numerical = solution.numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)  # noqa: B023
            errors.append(solution.gradient_error(by_hand, numerical) if by_hand.shape == x.shape else 1.0)
        if any(error >= 1e-6 for error in errors):
            wrong.append(name)
    return wrong

? entry_by_entry: The worst relative error of any single entry.
def gradient_error(by_hand, numerical):
    scale = np.maximum(abs(by_hand) + abs(numerical), 1e-30)
    return float((abs(by_hand - numerical) / scale).max(initial=0))

? first_output_for_all: The loss is made of the first output, and does not follow x.
def wrong_backwards(suspects, rng):
    wrong = []
    for name, (forward, backward, inputs) in suspects.items():
        y, cache = forward(*inputs)
        dy = rng.standard_normal(y.shape)
        gradients = backward(dy, cache)
        errors = [0.0 if len(gradients) == len(inputs) else 1.0]
        for x, by_hand in zip(inputs, gradients, strict=False):
            numerical = solution.numerical_gradient(lambda: (y * dy).sum(), x)  # noqa: B023
            errors.append(solution.gradient_error(by_hand, numerical) if by_hand.shape == x.shape else 1.0)
        if any(error >= 1e-6 for error in errors):
            wrong.append(name)
    return wrong

? flattened_by_its_shape: The caller's array is flattened by setting its shape, and stays flat.
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64 or not x.flags.c_contiguous:
        raise ValueError("expected contiguous float64")
    shape = x.shape
    gradient = solution.numerical_gradient(loss, x, step)
    x.shape = (-1,)
    return gradient.reshape(shape)

? float32_accepted: Any dtype is taken.
def numerical_gradient(loss, x, step=1e-5):
    gradient = np.empty_like(x)
    for place in np.ndindex(x.shape):
        here = x[place]
        x[place] = here + step
        above = loss()
        x[place] = here - step
        gradient[place] = (above - loss()) / (2 * step)
        x[place] = here
    return gradient

? largest_singular_value: The matrix norm 2, which is the largest singular value and not
  the root of all squares.
def gradient_error(by_hand, numerical):
    if by_hand.ndim != 2 or by_hand.size == 0:
        return solution.gradient_error(by_hand, numerical)
    norm = lambda array: np.linalg.norm(np.nan_to_num(array, nan=np.inf, posinf=1e300), 2)
    return float(norm(by_hand - numerical) / max(norm(by_hand) + norm(numerical), 1e-3))

? missing_gradient_passes: zip stops at the shorter: a gradient that is missing is never looked at.
- if [g.shape for g in gradients] != [x.shape for x in inputs]:
+ if any(g.shape != x.shape for g, x in zip(gradients, inputs, strict=False)):
-     for x, by_hand in zip(inputs, gradients, strict=True):
+     for x, by_hand in zip(inputs, gradients, strict=False):

? moved_back_by_arithmetic: The number is put back by adding the step again, which rounds.
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("expected float64")
    gradient = np.empty_like(x)
    for place in np.ndindex(x.shape):
        x[place] += step
        above = loss()
        x[place] -= 2 * step
        gradient[place] = (above - loss()) / (2 * step)
        x[place] += step
    return gradient

? moved_in_a_copy: The numbers are moved in a copy of x, of which loss() knows nothing.
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("x must be float64")
    gradient = np.zeros_like(x)
    x = x.copy()
    for index in np.ndindex(x.shape):
        old = x[index]
        x[index] = old + step
        above = loss()
        x[index] = old - step
        gradient[index] = (above - loss()) / (2 * step)
        x[index] = old
    return gradient

? named_for_every_gradient: A suspect is named once for each of its gradients that is wrong.
def wrong_backwards(suspects, rng):
    named = []
    for name, (forward, backward, inputs) in suspects.items():
        y, cache = forward(*inputs)
        dy = rng.standard_normal(y.shape)
        gradients = backward(dy, cache)
        if [g.shape for g in gradients] != [x.shape for x in inputs]:
            named.append(name)
            continue
        for x, by_hand in zip(inputs, gradients, strict=True):
            numerical = numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)  # noqa: B023
            if not gradient_error(by_hand, numerical) < 1e-6:
                named.append(name)
    return named

? never_put_back: x is not put back: each number stays where the last step has moved it.
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("x must be float64")
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        x[index] += step
        above = loss()
        x[index] -= 2 * step
        gradient[index] = (above - loss()) / (2 * step)
    return gradient

? nan_left_out: A gradient with NaN in it has no error: NaN is skipped, or told apart and let pass.
def gradient_error(by_hand, numerical):
    norm = lambda array: np.sqrt(np.nansum(np.square(array)))
    return float(norm(by_hand - numerical) / max(norm(by_hand) + norm(numerical), 1e-3))

? nan_passes: A comparison with NaN is false, so NaN is not called wrong.
- if not gradient_error(by_hand, numerical) < TOLERANCE:
+ if np.abs(by_hand - numerical).max() >= TOLERANCE:

? no_floor: Two gradients that are zero are divided by zero.
def gradient_error(by_hand, numerical):
    return float(np.linalg.norm(by_hand - numerical) / (np.linalg.norm(by_hand) + np.linalg.norm(numerical)))

? norms_of_the_worst_only: Only the gradient with the largest norm is compared.
-     for x, by_hand in zip(inputs, gradients, strict=True):
+     pairs = zip(inputs, gradients, strict=True)
+     for x, by_hand in [max(pairs, key=lambda pair: np.linalg.norm(pair[1]))]:

? old_value_moves_along: One of the two losses is that of x unmoved: a step is missing, or what is
  kept of x is a view, or x itself, and moves along: keep the number, or a copy.
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("x must be float64")
    gradient = np.zeros_like(x)
    old = x.view()
    for index in np.ndindex(x.shape):
        x[index] = old[index] + step
        above = loss()
        x[index] = old[index] - step
        gradient[index] = (above - loss()) / (2 * step)
        x[index] = old[index]
    return gradient

? one_root_of_both: The size is the root of all squares together, and should be the sum of two norms.
def gradient_error(by_hand, numerical):
    size = np.sqrt((by_hand**2).sum() + (numerical**2).sum())
    error = float(np.linalg.norm(by_hand - numerical) / max(size, 1e-3))
    return error if np.isfinite(error) else np.inf

? one_sided: A step up and none down: the error is of order h instead of h^2.
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("expected float64")
    gradient = np.empty_like(x)
    for place in np.ndindex(x.shape):
        here, below = x[place], loss()
        x[place] = here + step
        gradient[place] = (loss() - below) / step
        x[place] = here
    return gradient

? only_the_first_input: Only the gradient of the first input is looked at.
-     for x, by_hand in zip(inputs, gradients, strict=True):
+     for x, by_hand in zip(inputs[:1], gradients[:1], strict=True):

? pushed_alike: check_in_two pushes all inputs of one shape by the same amounts.
-     push = [rng.standard_normal(x.shape) for x in inputs]
+     of_shape = {x.shape: rng.standard_normal(x.shape) for x in inputs}
+     push = [of_shape[x.shape] for x in inputs]

? pushed_evenly: All numbers are pushed by the same amount: a softmax does not feel it.
class Even:
    # A generator whose second and later draws are all ones.

    def __init__(self, rng):
        self.rng, self.drawn = rng, False

    def standard_normal(self, shape):
        if self.drawn:
            return np.ones(shape)
        self.drawn = True
        return self.rng.standard_normal(shape)

def check_in_two(forward, backward, inputs, rng):
    return solution.check_in_two(forward, backward, inputs, Even(rng))

? put_back_by_adding: x is put back by adding the step to x - step, and not by writing down what was there.
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("x must be float64")
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        old = x[index].copy()
        x[index] = old + step
        above = loss()
        x[index] = old - step
        gradient[index] = (above - loss()) / (2 * step)
        x[index] += step
    return gradient

? shapes_not_compared: Broadcasting makes up for a gradient of another shape.
- if [g.shape for g in gradients] != [x.shape for x in inputs]:
+ if len(gradients) != len(inputs):

? step_ignored: The step is always 1e-5.
def numerical_gradient(loss, x, step=1e-5):
    return solution.numerical_gradient(loss, x)

? step_not_doubled: The difference over both sides is divided by one step.
def numerical_gradient(loss, x, step=1e-5):
    return 2 * solution.numerical_gradient(loss, x, step)

? stops_at_the_first: The search ends with the first wrong backward.
def wrong_backwards(suspects, rng):
    return solution.wrong_backwards(suspects, rng)[:1]

? worked_on_a_copy: The numbers are moved in x.reshape(-1), which is a copy where x is not contiguous.
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("expected float64")
    gradient, numbers = np.zeros(x.size), x.reshape(-1)
    for i in range(x.size):
        here = numbers[i]
        numbers[i] = here + step
        above = loss()
        numbers[i] = here - step
        gradient[i] = (above - loss()) / (2 * step)
        numbers[i] = here
    return gradient.reshape(x.shape)
"""
