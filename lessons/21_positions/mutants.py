"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? frequencies_end_early: The exponent is divided by F instead of F - 1, so that the lowest frequency is never
  reached.
def positions_sincos(grid, width):
    F = width // 4
    w = 10_000.0 ** (-np.arange(F) / F)
    r, c = (place.reshape(-1, 1) * w for place in np.indices(grid))
    return np.concatenate([np.sin(c), np.cos(c), np.sin(r), np.cos(r)], axis=1)

? frequencies_fall_evenly: The frequencies fall in equal steps instead of by equal factors.
def positions_sincos(grid, width):
    F = width // 4
    w = np.linspace(1, 1e-4, F)
    r, c = (place.reshape(-1, 1) * w for place in np.indices(grid))
    return np.concatenate([np.sin(c), np.cos(c), np.sin(r), np.cos(r)], axis=1)

? gradient_averaged_along_the_diagonal: The gradient of an offset is the mean along its diagonal instead of
  the sum.
def relative_scores_backward(dS, cache):
    q, table = cache
    (_, _, Q, N), dtable = dS.shape, np.zeros_like(table)
    index = N - 1 - (np.arange(Q)[:, None] - np.arange(N))
    np.add.at(dtable, index, np.einsum("bhij,bhik->ijk", dS, q))
    pairs = np.bincount(index.reshape(-1), minlength=len(table)).clip(1)
    return np.einsum("bhij,ijk->bhik", dS, table[index]), dtable / pairs[:, None].astype(table.dtype)

? gradient_averaged_over_images: The gradient of the table is the mean over the images.
def relative_scores_backward(dS, cache):
    dq, dtable = solution.relative_scores_backward(dS, cache)
    return dq, dtable / len(dS)

? gradient_of_float64: The zeros into which dS is written are float64, and so is dq.
def relative_scores_backward(dS, cache):
    dq, dtable = solution.relative_scores_backward(dS.astype(np.float64), cache)
    return dq, dtable

? gradient_of_used_offsets_alone: dtable has rows for those offsets only that occur.
def relative_scores_backward(dS, cache):
    q, table = cache
    (_, _, Q, N), dtable = dS.shape, np.zeros_like(table)
    index = N - 1 - (np.arange(Q)[:, None] - np.arange(N))
    np.add.at(dtable, index, np.einsum("bhij,bhik->ijk", dS, q))
    return np.einsum("bhij,ijk->bhik", dS, table[index]), dtable[N - Q :]

? guilt_with_every_query: The inputs have as many queries as tokens, which hides the fault.
- return "diagonal by diagonal", (rng.normal(size=(1, 2, 3, 4)), rng.normal(size=(9, 4)))
+ return "diagonal by diagonal", (rng.normal(size=(1, 2, 3, 4)), rng.normal(size=(5, 4)))

? offsets_mirrored: Query i gives key j the vector of offset j - i: left and right are exchanged.
def relative_scores(q, table):
    return solution.relative_scores(q, table[::-1])

def relative_scores_backward(dS, cache):
    dq, dtable = solution.relative_scores_backward(dS, cache)
    return dq, dtable[::-1].copy()

? patches_down_the_columns: The patches are numbered down the columns.
def positions_sincos(grid, width):
    return solution.positions_sincos(grid, width).reshape(*grid, width).swapaxes(0, 1).reshape(-1, width)

? plane_of_a_square: Both axes are centred by the height of the grid, as if it were square.
- across = c[:, None] - c + gw - 1
+ across = c[:, None] - c + gh - 1
- return np.moveaxis(table[down, across], -1, 0), (down, across, table.shape)
+ return np.moveaxis(table[down, across % table.shape[1]], -1, 0), (down, across, table.shape)

? plane_offsets_mirrored: The offset is that of the key minus that of the query.
- down = r[:, None] - r + gh - 1
+ down = r - r[:, None] + gh - 1
- across = c[:, None] - c + gw - 1
+ across = c - c[:, None] + gw - 1

? plane_pairs_lost: dtable[index] += adds only the last of all pairs at one offset.
- np.add.at(dtable, (down, across), np.moveaxis(dS, 0, -1))
+ dtable[down, across] += np.moveaxis(dS, 0, -1)

? plane_rows_mirrored: The row of the query is taken off that of the key, and should be the other way round.
- down = r[:, None] - r + gh - 1
+ down = r - r[:, None] + gh - 1

? queries_doubled_in_the_cache: The backward doubles the cached queries in place, so that it is right only
  once.
def relative_scores_backward(dS, cache):
    q, table = cache
    (_, _, Q, N), dtable = dS.shape, np.zeros_like(table)
    index = N - 1 - (np.arange(Q)[:, None] - np.arange(N))
    q *= 2
    np.add.at(dtable, index, np.einsum("bhij,bhik->ijk", dS, q) / 2)
    return np.einsum("bhij,ijk->bhik", dS, table[index]), dtable

? repeated_offsets_counted_once: dtable[index] += adds only the last of all pairs at one offset.
def relative_scores_backward(dS, cache):
    q, table = cache
    (_, _, Q, N), dtable = dS.shape, np.zeros_like(table)
    index = N - 1 - (np.arange(Q)[:, None] - np.arange(N))
    dtable[index] += np.einsum("bhij,bhik->ijk", dS, q)
    return np.einsum("bhij,ijk->bhik", dS, table[index]), dtable

? rows_before_columns: The sines of the row come before those of the column.
def positions_sincos(grid, width):
    return np.roll(solution.positions_sincos(grid, width), width // 2, axis=1)

? rows_not_shifted: Every query reads the offsets of the first one.
def relative_scores(q, table):
    N = (len(table) + 1) // 2
    return q @ table[N - 1 :].T, (q, table)

def relative_scores_backward(dS, cache):
    q, table = cache
    N, dtable = dS.shape[-1], np.zeros_like(table)
    dtable[N - 1 :] = np.einsum("bhij,bhik->jk", dS, q)
    return dS @ table[N - 1 :], dtable

? sines_and_cosines_side_by_side: The sine and the cosine of each frequency stand side by side, as in the
  first Transformer.
def positions_sincos(grid, width):
    table = solution.positions_sincos(grid, width)
    return table.reshape(len(table), 4, -1).swapaxes(1, 2).reshape(table.shape)

? table_read_from_the_top: The rows in use begin at the top of the table, also where there are fewer queries
  than tokens.
def relative_scores(q, table):
    Q, N = q.shape[2], (len(table) + 1) // 2
    index = Q - 1 - (np.arange(Q)[:, None] - np.arange(N))
    return np.einsum("bhik,ijk->bhij", q, table[index]), (q, table, index)

def relative_scores_backward(dS, cache):
    q, table, index = cache
    dtable = np.zeros_like(table)
    np.add.at(dtable, index, np.einsum("bhij,bhik->ijk", dS, q))
    return np.einsum("bhij,ijk->bhik", dS, table[index]), dtable

? vector_for_every_pair: The numbers are right, but a vector is written out for every pair of tokens.
def relative_scores(q, table):
    Q, N = q.shape[2], (len(table) + 1) // 2
    vectors = table[N - 1 - (np.arange(Q)[:, None] - np.arange(N))]  # (Q, N, K)
    return np.einsum("bhik,ijk->bhij", q, vectors), (q, table)

? without_the_column_of_zeros: There is no column of zeros, and rows are cut one number shorter: right for all
  but a single query.
def relative_scores(q, table):
    (B, H, Q, _), N = q.shape, (len(table) + 1) // 2
    W = N + Q - 1
    memory = (q @ table[N - Q :].T).reshape(B, H, Q * W)[..., Q - 1 : Q - 1 + Q * (W - 1)]
    return memory.reshape(B, H, Q, W - 1)[..., :N].copy(), (q, table)

? wrapped_around: A number too few is skipped, so that every key gets the score of its left neighbour.
def relative_scores(q, table):
    Q, N = q.shape[2], (len(table) + 1) // 2
    G = np.pad(q @ table[N - Q :].T, [(0, 0)] * 3 + [(1, 0)])
    memory = G.reshape(*q.shape[:2], -1)[..., Q - 1 : Q - 1 + Q * (N + Q - 1)]
    return memory.reshape(*q.shape[:3], -1)[..., :N].copy(), (q, table)
"""
