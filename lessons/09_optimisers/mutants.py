"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? betas_by_default: The betas are 0.9 and 0.999, whatever the caller says.
- b1, b2 = betas
+ b1, b2 = 0.9, 0.999

? corrected_means_kept: The corrected m and v are carried to the next step, so that they are corrected again
  and again.
def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    b1, b2 = betas
    m = (b1 * m + (1 - b1) * g) / (1 - b1**step)
    v = (b2 * v + (1 - b2) * g * g) / (1 - b2**step)
    return (1 - lr * weight_decay) * w - lr * m / (np.sqrt(v) + eps), m, v

? decay_added_to_the_gradient: Weight decay as an L2 penalty: Adam, not AdamW.
def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    return solution.adamw_step(w, g + weight_decay * w, m, v, lr, step, betas, eps)

? decay_after_the_step: The weights decay after the step instead of before it.
- w = w - lr * weight_decay * w  # eq. adam 5
+
- return w - lr * m_hat / (np.sqrt(v_hat) + eps), m, v
+ return (w - lr * m_hat / (np.sqrt(v_hat) + eps)) * (1 - lr * weight_decay), m, v

? decay_counted_from_the_start: The decay runs over all steps, so that the rate jumps down where the warm-up
  ends.
def learning_rate(step, total, peak, warmup, decay="cosine"):
    if step <= warmup:
        return peak * step / warmup
    return solution.learning_rate(step, total, peak, 0, decay)

? decay_without_lr: The decay is not multiplied by the learning rate.
def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    return solution.adamw_step(w - weight_decay * w, g, m, v, lr, step, betas, eps)

? eps_by_default: eps is 1e-8, whatever the caller says.
- / (np.sqrt(v_hat) + eps), m, v
+ / (np.sqrt(v_hat) + 1e-8), m, v

? eps_inside_the_root: eps is added to v' instead of to its root.
def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    b1, b2 = betas
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g * g
    w = (1 - lr * weight_decay) * w
    return w - lr * m / (1 - b1**step) / np.sqrt(v / (1 - b2**step) + eps), m, v

? every_number_clipped: Each number is clipped by itself, which bends the gradient's direction.
def clip_norm(g, largest):
    return np.clip(g, -largest, largest), float(np.linalg.norm(g))

? every_row_clipped: Each row of the gradient is clipped by itself.
def clip_norm(g, largest):
    norms = np.sqrt((g * g).sum(axis=-1, keepdims=True))
    return g * np.minimum(1, largest / np.maximum(norms, 1e-12)), math.sqrt((g * g).sum())

? last_step_does_nothing: The decay is over when the last step begins, so that its rate is 0.
def learning_rate(step, total, peak, warmup, decay="cosine"):
    if step <= warmup:
        return peak * step / warmup
    return solution.learning_rate(step + 1, total, peak, warmup, decay)

? means_written_in_place: m and v are updated in place, in the caller's arrays.
-     m = b1 * m + (1 - b1) * g
+     m *= b1
+     m += (1 - b1) * g

? momentum_does_not_matter: The largest rate is taken to be that of SGD without momentum.
- return 2 * (1 + momentum) / steepness
+ return 2 / steepness

? no_bias_correction: m and v are used as they are, though they start at 0.
def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    b1, b2 = betas
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g * g
    return (1 - lr * weight_decay) * w - lr * m / (np.sqrt(v) + eps), m, v

? norm_after_clipping: The norm that is returned is that after clipping, and not the one before.
def clip_norm(g, largest):
    clipped, _ = solution.clip_norm(g, largest)
    return clipped, float(np.linalg.norm(clipped))

? rates_of_numpy: The cosine is NumPy's, so that the rate is a float64 which makes float32 weights float64.
def learning_rate(step, total, peak, warmup, decay="cosine"):
    if step <= warmup or decay != "cosine":
        return solution.learning_rate(step, total, peak, warmup, decay)
    return peak * (1 + np.cos(np.pi * (step - 1 - warmup) / (total - warmup))) / 2

? short_gradient_handed_back: A gradient that is short enough comes back as the caller's own array.
- return (g * (largest / norm) if norm > largest else g.copy()), norm
+ return (g * (largest / norm) if norm > largest else g), norm

? short_gradients_stretched: Gradients shorter than the limit are made longer: normalising, not clipping.
def clip_norm(g, largest):
    norm = float(np.linalg.norm(g))
    return g * (largest / max(norm, 1e-12)), norm

? trusts_the_first_step: The check looks at the first step only.
- in ((1, 3.0), (2, -0.5)):
+ in ((1, 3.0),):

? trusts_the_usual_arguments: The check never gives betas, eps or a decay of its own.
def trust_adamw(adamw_step):
    rng = np.random.default_rng(0)
    w, m, v = rng.normal(size=4), np.zeros(4), np.zeros(4)
    for step in range(1, 4):
        g = rng.normal(size=4)
        right = solution.adamw_step(w, g, m, v, 0.1, step)
        got = adamw_step(w, g, m.copy(), v, 0.1, step)
        if not all(np.allclose(a, b) for a, b in zip(got, right, strict=True)):
            return False
        w, m, v = right
    return True

? warm_up_from_zero: Steps are taken to be counted from 0: the first step does nothing at all.
def learning_rate(step, total, peak, warmup, decay="cosine"):
    if step <= warmup:
        return peak * (step - 1) / warmup
    return solution.learning_rate(step, total, peak, warmup, decay)
"""
