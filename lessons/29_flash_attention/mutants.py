"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? all_of_a_at_once: All of A is computed at the start, and cut into tiles.
-     dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
+     whole = np.exp(q @ k.T * scale - log_sums[:, None])
+     dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
- A = np.exp(q[rows] @ k[columns].T * scale - log_sums[rows, None])
+ A = whole[rows, columns]

? d_left_out: D is left out: the row sum of dA * A is not subtracted.
- (dO[rows] @ v[columns].T - D)
+ (dO[rows] @ v[columns].T)

? d_of_a_tile: D is the row sum of dA * A over this tile alone.
-             dS = A * (dO[rows] @ v[columns].T - D) * scale
+             dA = dO[rows] @ v[columns].T
+             dS = A * (dA - (A * dA).sum(axis=1, keepdims=True)) * scale

? dk_overwritten: Every tile of queries writes over dk, and does not add to it.
- dk[columns] += dS.T @ q[rows]
+ dk[columns] = dS.T @ q[rows]

? dq_overwritten: Every tile of keys writes over dq, and does not add to it.
- dq[rows] += dS @ k[columns]
+ dq[rows] = dS @ k[columns]

? dv_overwritten: Every tile of queries writes over dv, and does not add to it.
- dv[columns] += A.T @ dO[rows]
+ dv[columns] = A.T @ dO[rows]

? exp_before_the_log_sums: A is exp(score) divided by exp(log_sum), and both are infinite for large scores.
- np.exp(q[rows] @ k[columns].T * scale - log_sums[rows, None])
+ np.exp(q[rows] @ k[columns].T * scale) / np.exp(log_sums[rows, None])

? kernel_beyond_the_last_key: The last tile is read as if it were full, beyond the last key.
- real ? k[first * K + i] : 0
+ k[first * K + i]
- real ? v[first * K + i] : 0
+ v[first * K + i]

? kernel_beyond_the_last_query: A query is read for every thread, also beyond the last.
- query < N ? q[query * K + i] / sqrtf(K) : 0
+ q[query * K + i] / sqrtf(K)

? kernel_largest_begins_at_zero: The largest begins at 0, above all scores if they are negative.
- float largest = -1e30f, total = 0;
+ float largest = 0, total = 0;

? kernel_loads_too_early: There is no barrier between reading a tile and loading the next.
-         __syncthreads();  // all are done with the tile
-     }
+     }

? kernel_log_of_the_sum_alone: The largest score is not added to the log of the sum.
- log_sums[query] = largest + logf(total);
+ log_sums[query] = logf(total);

? kernel_mix_not_rescaled: The outputs so far are not made smaller when a larger score comes.
-         for (int i = 0; i < K; i++) mix[i] *= shrink;
-         for (int j = 0; j < TILE; j++) {
+         for (int j = 0; j < TILE; j++) {

? kernel_one_number_a_thread: Each thread loads one number of the tile, and the rest is left as it is.
- for (int i = threadIdx.x; i < TILE * K; i += blockDim.x) {
+ for (int i = threadIdx.x; i < TILE * K; i += TILE * K) {

? kernel_places_unwritten: The places of keys that do not exist are left as they are.
-             keys[i / K][i % K] = real ? k[first * K + i] : 0;
-             values[i / K][i % K] = real ? v[first * K + i] : 0;
+             if (!real) continue;
+             keys[i / K][i % K] = k[first * K + i];
+             values[i / K][i % K] = v[first * K + i];

? kernel_query_of_the_thread: The query is the number of the thread within its block: every block does the
  same queries.
- const int query = blockIdx.x * blockDim.x + threadIdx.x;
+ const int query = threadIdx.x;

? kernel_query_read_again: The query is read from memory for every key.
- score += asking[i] * keys[j][i];
+ score += query < N ? q[query * K + i] / sqrtf(K) * keys[j][i] : 0;

? kernel_reads_too_early: There is no barrier between loading a tile and reading it.
-         __syncthreads();  // the tile is there
-         float now = largest;
+         float now = largest;

? kernel_same_tile: Every tile loads the first keys again.
- real ? k[first * K + i] : 0
+ real ? k[i] : 0
- real ? v[first * K + i] : 0
+ real ? v[i] : 0

? kernel_sum_not_rescaled: The sum so far is not made smaller when a larger score comes.
-         total *= shrink;
-         for (int i = 0; i < K; i++) mix[i] *= shrink;
+         for (int i = 0; i < K; i++) mix[i] *= shrink;

? kernel_threads_leave: Threads without a query leave before the barriers.
-     float largest = -1e30f, total = 0;
+     if (query >= N) return;
+     float largest = -1e30f, total = 0;

? kernel_without_shared_memory: Every thread reads every key and value from memory itself.
- score += asking[i] * keys[j][i];
+ score += first + j < N ? asking[i] * k[(first + j) * K + i] : 0;
- mix[i] += share * values[j][i];
+ mix[i] += first + j < N ? share * v[(first + j) * K + i] : 0;

? kernel_zeros_count: Keys that do not exist have a score of 0, which counts.
- first + j < N ? score : -1e30f
+ score

? largest_begins_at_zero: The largest begins at 0, above all scores if they are negative.
- np.full_like(total, -np.inf)
+ np.zeros_like(total)

? largest_of_the_tile: The largest is that of the latest tile, and what came before is blown up.
- now = np.maximum(largest, S.max(axis=1, keepdims=True))
+ now = S.max(axis=1, keepdims=True)

? last_tile_left_out: The last tile, which is smaller, is left out.
-         for columns in _tiles(N, tile):
-             S = asking @ k[columns].T
+         for columns in _tiles(max(N - N % tile, tile), tile):
+             S = asking @ k[columns].T

? log_of_the_sum_alone: The largest score is not added to the log of the sum.
- (largest + np.log(total))[:, 0]
+ np.log(total)[:, 0]

? mix_not_rescaled: The outputs so far are not made smaller when a larger score comes.
- mix = mix * shrink + shares
+ mix = mix + shares

? no_largest: Nothing is subtracted from the scores before exp.
- now = np.maximum(largest, S.max(axis=1, keepdims=True))
+ now = np.zeros_like(total)
- np.full_like(total, -np.inf)
+ np.zeros_like(total)

? not_divided: The outputs are never divided by the sum.
- o[rows] = mix / total
+ o[rows] = mix

? nothing_rescaled: Neither the sum nor the outputs so far are made smaller when a larger score comes.
- mix = mix * shrink + shares
+ mix = mix + shares
- total = total * shrink + shares
+ total = total + shares

? only_the_last_tile: Only the last tile counts: the sums begin anew with every tile.
-             S = asking @ k[columns].T
+             mix, total = np.zeros_like(mix), np.zeros_like(total)
+             largest = np.full_like(total, -np.inf)
+             S = asking @ k[columns].T

? padded_with_zeros: The last tile is filled up with keys of zeros, whose score of 0 counts.
-             S = asking @ k[columns].T  # (t, t)
+             keys = np.zeros((tile, K), k.dtype)
+             keys[: len(k[columns])] = k[columns]
+             S = asking @ keys.T
- mix = mix * shrink + shares @ v[columns]
+ mix = mix * shrink + shares[:, : len(v[columns])] @ v[columns]

? parts_by_their_logs: Each part counts as much as its log of the sum, and not as its sum.
- np.exp(each - log_sums)[:, None] * part
+ (each / sum(other for _, other in parts))[:, None] * part

? parts_count_alike: The mean of the parts is taken, whatever their sums are.
- o = sum(np.exp(each - log_sums)[:, None] * part for part, each in parts)
+ o = sum(part for part, _ in parts) / len(parts)

? parts_without_a_largest: exp(log_sums) is worked out as it is, and is infinite.
- np.logaddexp.reduce([each for _, each in parts])
+ np.log(sum(np.exp(each) for _, each in parts))

? results_in_float64: The results are float64, whatever came in.
- np.empty_like(v), np.empty(N, q.dtype)
+ np.empty(v.shape), np.empty(N)

? root_forgotten: The scores are not divided by the root of K.
- q[rows] * (1 / math.sqrt(K))
+ q[rows]

? root_forgotten_in_backward: The gradients of the queries and keys are not divided by the root of K.
- dS = A * (dO[rows] @ v[columns].T - D) * scale
+ dS = A * (dO[rows] @ v[columns].T - D)

? softmax_of_each_tile: Each tile has a softmax of its own, and the outputs are added.
-             now = np.maximum(largest, S.max(axis=1, keepdims=True))
-             shrink = np.exp(largest - now)  # 0 the first time
+             now, shrink = S.max(axis=1, keepdims=True), 1
-             total = total * shrink + shares.sum(axis=1, keepdims=True)
-             mix = mix * shrink + shares @ v[columns]
+             total = shares.sum(axis=1, keepdims=True)
+             mix = mix + shares / total @ v[columns]
- o[rows] = mix / total
+ o[rows] = mix

? softmax_of_each_tile_in_backward: Each tile of A is divided by its own sum, and not by that of the whole
  row.
-             A = np.exp(q[rows] @ k[columns].T * scale - log_sums[rows, None])  # (t, t)
+             S = q[rows] @ k[columns].T * scale
+             A = np.exp(S - S.max(axis=1, keepdims=True))
+             A /= A.sum(axis=1, keepdims=True)

? sum_not_rescaled: The sum so far is not made smaller when a larger score comes.
- total = total * shrink + shares
+ total = total + shares

? whole_rows: A tile has all keys of its queries: whole rows of A are held.
-         for columns in _tiles(N, tile):
-             S = asking @ k[columns].T
+         for columns in _tiles(N, N):
+             S = asking @ k[columns].T
"""
