"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? angles_of_queries_subtracted: The parts of queries and keys are subtracted, as their
  angles are in the scores.
- return dq, dk, np.einsum("pt,htn->phn", places, dangles + from_keys)
+ return dq, dk, np.einsum("pt,htn->phn", places, dangles - from_keys)

? angles_repeated_for_neighbours: Each angle stands twice side by side, as for pairs of
  neighbours, and the halves are turned.
def turn_patches(x, angles):
    cos, sin = np.repeat(np.cos(angles), 2, axis=1), np.repeat(np.sin(angles), 2, axis=1)
    y, T, half = x.copy(), len(angles), x.shape[-1] // 2
    turned = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    y[:, :, -T:] = x[:, :, -T:] * cos + turned[:, :, -T:] * sin
    return y, (cos, sin)

def turn_patches_backward(dy, cache):
    (cos, sin), T, half = cache, len(cache[0]), dy.shape[-1] // 2
    dx, back = dy.copy(), dy[:, :, -T:] * sin
    dx[:, :, -T:] = dy[:, :, -T:] * cos
    dx[:, :, -T:] += np.concatenate([back[..., half:], -back[..., :half]], axis=-1)
    return dx

? class_token_turned_too: The tokens before the patches turn as the first patch does.
def turn_patches(x, angles):
    others = x.shape[2] - len(angles)
    every = np.concatenate([np.repeat(angles[:1], others, axis=0), angles])
    return rotary(x, Turn(np.cos(every), np.sin(every), pairs=False))

? columns_before_rows: The columns come before the rows.
- return np.concatenate([r * f, c * f], axis=1)
+ return np.concatenate([c * f, r * f], axis=1)

? cosine_from_the_sine: To save memory only the sine is kept, and the cosine is made of it: its sign is lost.
def turn_patches_backward(dy, cache):
    y, turn = cache
    return rotary_backward(dy, (y, turn._replace(cos=np.sqrt(1 - turn.sin**2))))[0]

? first_tokens_turned: The first T tokens turn, and not the last.
def turn_patches(x, angles):
    T = len(angles)
    y, cache = rotary(x[:, :, :T], Turn(np.cos(angles), np.sin(angles), pairs=False))
    return np.concatenate([y, x[:, :, T:]], axis=2), cache

def turn_patches_backward(dy, cache):
    T = cache[0].shape[2]
    return np.concatenate([rotary_backward(dy[:, :, :T], cache)[0], dy[:, :, T:]], axis=2)

? float64_comes_out: The angles' float64 makes float64 of a float32 x.
- return rotary(x, Turn(np.cos(angles), np.sin(angles), pairs=False))
+ return rotary(x.astype(np.float64), Turn(np.cos(angles), np.sin(angles), pairs=False))

? frequencies_for_every_point: There are K/2 frequencies for the row and K/2 for the column,
  twice as many as points.
- f = theta ** (-4 * np.arange(K // 4) / K)
+ f = theta ** (-4 * np.arange(K // 2) / K)

? frequencies_learn_from_queries_alone: The gradient of the frequencies lacks the part of the keys.
- return dq, dk, np.einsum("pt,htn->phn", places, dangles + from_keys)
+ return dq, dk, np.einsum("pt,htn->phn", places, dangles)

? frequencies_of_a_line: The power is -2n/K, as for K/2 frequencies along a line.
- f = theta ** (-4 * np.arange(K // 4) / K)
+ f = theta ** (-2 * np.arange(K // 4) / K)

? gradient_not_turned: The gradient is passed on as it comes.
- return rotary_backward(dy, cache)[0]
+ return dy.copy()

? gradient_of_the_class_token_lost: The tokens that do not turn get no gradient.
def turn_patches_backward(dy, cache):
    dx, T = np.zeros_like(dy), cache[1].tokens
    dx[:, :, -T:] = rotary_backward(dy, cache)[0][:, :, -T:]
    return dx

? gradient_turned_forth: The gradient is turned by the same angles as x, and not back.
- return rotary_backward(dy, cache)[0]
+ return rotary(dy, cache[1])[0]

? keys_not_turned: Only the queries of the learned scores turn.
- (y, turned_q), (z, turned_k) = turn_patches(q, angles), turn_patches(k, angles)
+ (y, turned_q), (z, turned_k) = turn_patches(q, angles), turn_patches(k, 0 * angles)

? neighbours_as_points: Neighbours are turned together, and not the two halves.
- return rotary(x, Turn(np.cos(angles), np.sin(angles), pairs=False))
+ return rotary(x, Turn(np.cos(angles), np.sin(angles), pairs=True))

? new_value_for_the_old: The first number is written over before the second is worked out.
def turn_patches(x, angles):
    cos, sin = np.cos(angles), np.sin(angles)
    y, T, half = x.copy(), len(angles), x.shape[-1] // 2
    y1, y2 = y[:, :, -T:, :half], y[:, :, -T:, half:]  # views
    y1[...] = y1 * cos - y2 * sin
    y2[...] = y2 * cos + y1 * sin
    return y, (y, Turn(cos, sin, False))

? nothing_turns: The angles are forgotten, and every token stays as it is.
- np.cos(angles), np.sin(angles)
+ np.cos(0 * angles), np.sin(0 * angles)

? one_sine_with_the_wrong_sign: In y1, x2 sin a is added instead of subtracted; the backward fits it.
def turn_patches(x, angles):
    cos, sin = np.cos(angles), np.sin(angles)
    y, T, half = x.copy(), len(angles), x.shape[-1] // 2
    x1, x2 = x[:, :, -T:, :half], x[:, :, -T:, half:]
    y[:, :, -T:, :half] = x1 * cos + x2 * sin
    y[:, :, -T:, half:] = x2 * cos + x1 * sin
    return y, (cos, sin)

def turn_patches_backward(dy, cache):
    cos, sin = cache
    dx, T, half = dy.copy(), len(cos), dy.shape[-1] // 2
    dy1, dy2 = dy[:, :, -T:, :half], dy[:, :, -T:, half:]
    dx[:, :, -T:, :half] = dy1 * cos + dy2 * sin
    dx[:, :, -T:, half:] = dy2 * cos + dy1 * sin
    return dx

? rows_and_columns_side_by_side: Rows and columns alternate from angle to angle.
- np.concatenate([r * f, c * f], axis=1)
+ np.stack([r * f, c * f], axis=2).reshape(len(r), -1)

? the_other_sine_with_the_wrong_sign: In y2, x1 sin a is subtracted instead of added; the backward fits it.
def turn_patches(x, angles):
    cos, sin = np.cos(angles), np.sin(angles)
    y, T, half = x.copy(), len(angles), x.shape[-1] // 2
    x1, x2 = x[:, :, -T:, :half], x[:, :, -T:, half:]
    y[:, :, -T:, :half] = x1 * cos - x2 * sin
    y[:, :, -T:, half:] = x2 * cos - x1 * sin
    return y, (cos, sin)

def turn_patches_backward(dy, cache):
    cos, sin = cache
    dx, T, half = dy.copy(), len(cos), dy.shape[-1] // 2
    dy1, dy2 = dy[:, :, -T:, :half], dy[:, :, -T:, half:]
    dx[:, :, -T:, :half] = dy1 * cos - dy2 * sin
    dx[:, :, -T:, half:] = dy2 * cos - dy1 * sin
    return dx

? turned_the_other_way: The points turn by -a.
- return rotary(x, Turn(np.cos(angles), np.sin(angles), pairs=False))
+ return rotary(x, Turn(np.cos(angles), -np.sin(angles), pairs=False))

? x_turned_in_place: x itself is turned.
def turn_patches(x, angles):
    y, cache = rotary(x, Turn(np.cos(angles), np.sin(angles), pairs=False))
    x[...] = y
    return x, cache
"""
