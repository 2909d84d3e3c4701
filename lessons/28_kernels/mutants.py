"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? accuses_half_a_warp: The wrong suspect.
- return "one_block", (rng.normal(size=(2, 70)), rng.normal(1, 0.5, 70), rng.normal(size=70))
+ return "half_a_warp", (rng.normal(size=(2, 70)), rng.normal(1, 0.5, 70), rng.normal(size=70))

? accuses_with_narrow_rows: Rows on which nobody is wrong.
- size=(2, 70)), rng.normal(1, 0.5, 70), rng.normal(size=70)
+ size=(2, 60)), rng.normal(1, 0.5, 60), rng.normal(size=60)

? all_lanes_write_the_mean: All lanes of a warp write the mean and r of their row.
-     if (lane == 0) {
+     {

? all_threads_write_the_sum: All eight threads of a column add up the parts, each beginning with its own.
- if (threadIdx.y > 0 || column >= D) return;
+ if (column >= D) return;

? barrier_forgotten: There is no barrier between the writes to shared memory and the reads.
-     __syncthreads();  // for all threads, also those beyond the last column
-     if (threadIdx.y > 0 || column >= D) return;
+     if (threadIdx.y > 0 || column >= D) return;

? barrier_in_a_branch: Only the threads that add up the parts come to the barrier.
-     __syncthreads();  // for all threads, also those beyond the last column
-     if (threadIdx.y > 0 || column >= D) return;
+     if (threadIdx.y > 0 || column >= D) return;
+     __syncthreads();

? bias_of_the_row: The bias is that of the row, not that of the column.
- const float z = x[i] + bias[i % D];
+ const float z = x[i] + bias[i / D % D];

? block_forgotten: The index is the thread's number within its block: every block does the same.
- const int i = blockIdx.x * blockDim.x + threadIdx.x;
+ const int i = threadIdx.x;

? bound_forgotten: The threads beyond the last number write as well.
-     if (i >= rows * D) return;  // the last block has threads to spare
-     const float z = x[i] + bias[i % D];
+     const float z = x[i] + bias[i % D];

? bound_off_by_one: The bound lets one thread too many through.
- if (i >= rows * D) return;
+ if (i > rows * D) return;

? butterfly_of_half_a_warp: The first exchange is over 8 lanes: each half of the warp has a sum of its own.
-     for (int distance = 16; distance > 0; distance /= 2)
-         sum += __shfl_xor_sync(0xffffffff, sum, distance);
+     for (int distance = 8; distance > 0; distance /= 2)
+         sum += __shfl_xor_sync(0xffffffff, sum, distance);

? eps_outside_the_root: eps is added to the standard deviation instead of the variance.
- 1 / sqrtf(warp_sum(squares) / D + eps)
+ 1 / (sqrtf(warp_sum(squares) / D) + eps)

? gain_of_the_lane: Gain and offset are those of the lane, not of the column.
- weight[column] + bias[column]
+ weight[lane % D] + bias[lane % D]

? gradient_of_the_sum: The gradient is that of the sum of the losses, not of their mean.
-         dlogits[row * classes + c] = (p - (c == label ? 1 : 0)) / rows;
+         dlogits[row * classes + c] = (p - (c == label ? 1 : 0)) ;

? input_read_three_times: The row is read again in every pass.
-         values[i] -= centre;
+         values[i] = (lane + 32 * i < D ? x[row * D + lane + 32 * i] : 0) - centre;
- y[row * D + column] = values[i] * scale
+ y[row * D + column] = (x[row * D + column] - centre) * scale

? lane_of_a_shift: The exchange is a shift down, and the sum is read in the last lane.
-         sum += __shfl_xor_sync(0xffffffff, sum, distance);
-     if (lane == 0) sums[row] = sum;
+         sum += __shfl_down_sync(0xffffffff, sum, distance);
+     if (lane == 31) sums[row] = sum;

? largest_begins_at_infinity: A lane without a column works out -INFINITY - -INFINITY, which is no number.
- float largest = -1e30f, sum = 0;
+ float largest = -INFINITY, sum = 0;

? largest_begins_at_zero: The search for the largest logit begins at 0, above all logits if they are negative.
- float largest = -1e30f, sum = 0;
+ float largest = 0, sum = 0;

? mean_of_a_lane: The mean is made from the lane's own numbers.
- const float centre = warp_sum(sum) / D;
+ const float centre = sum * 32 / D;

? neighbouring_columns: Each lane adds up neighbouring columns, so that the warp reads from 32 places at once.
-     for (int column = lane; column < D; column += 32)
+     const int share = (D + 31) / 32;
+     for (int column = lane * share; column < D && column < (lane + 1) * share; column++)

? one_column_a_lane: Each lane takes one column, and columns from 32 on are forgotten.
-     for (int column = lane; column < D; column += 32)
-         sum += x[row * D + column];
+     if (lane < D) sum += x[row * D + lane];

? one_place_for_eight_threads: The eight threads of a column add to one place in shared memory.
-     __shared__ float parts[8][32];
+     __shared__ float parts[8][32];
+     parts[threadIdx.y][threadIdx.x] = 0;
+     __syncthreads();
- parts[threadIdx.y][threadIdx.x] = sum;
+ parts[0][threadIdx.x] += sum;
-         sum += parts[k][threadIdx.x];
+         ;
+     sum = parts[0][threadIdx.x];

? parts_never_written: A thread without rows leaves its part as it is.
- parts[threadIdx.y][threadIdx.x] = sum;
+ if (threadIdx.y < rows && column < D) parts[threadIdx.y][threadIdx.x] = sum;

? row_of_the_block: The row is the number of the block, though a block may have several warps.
-     const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
-     if (row >= rows) return;  // the whole warp leaves, so the shuffles below miss nobody
+     const int row = blockIdx.x;
+     if (row >= rows) return;  // the whole warp leaves, so the shuffles below miss nobody

? rows_counted_more_than_once: Each thread goes on by one row instead of eight.
- for (int row = threadIdx.y; row < rows; row += 8)
+ for (int row = threadIdx.y; row < rows; row++)

? single_lanes_leave: Lanes without a column leave before the shuffles.
- if (row >= rows) return;  // the whole warp leaves, so the shuffles below miss nobody
+ if (row >= rows || lane >= D) return;

? sum_without_the_largest: The exponentials are added without subtracting the largest logit.
- float largest = -1e30f, sum = 0;
+ float largest = 0, sum = 0;
- const float now = fmaxf(largest, z[c]);
+ const float now = 0;
- const float now = fmaxf(largest, theirs);
+ const float now = 0;

? sums_merged_as_they_are: Two lanes add their sums, which are relative to two different logits.
- sum = sum * expf(largest - now) + their_sum * expf(theirs - now);
+ sum += their_sum;

? tanh_by_exponentials: The tanh is a quotient of exponentials, which overflow.
- y[i] = 0.5f * z * (1 + tanhf(u));
+ y[i] = 0.5f * z * (1 + (expf(u) - expf(-u)) / (expf(u) + expf(-u)));

? three_passes: The largest, the sum and the gradient take a pass each.
-     float largest = -1e30f, sum = 0;
+     float largest = -1e30f, sum = 0;
+     for (int c = lane; c < classes; c += 32)
+         largest = fmaxf(largest, z[c]);

? variance_in_one_pass: The variance is the mean of the squares less the square of the mean.
-         sum += values[i];
+         sum += values[i];
+         squares += values[i] * values[i];
-     float sum = 0;
-     for (int i = 0; i < 8; i++) {
+     float sum = 0, squares = 0;
+     for (int i = 0; i < 8; i++) {
-     float squares = 0;
-     for (int i = 0; i < 8; i++) {
+     for (int i = 0; i < 8; i++) {
-         if (lane + 32 * i < D) squares += values[i] * values[i];
-     }
+     }
- warp_sum(squares) / D + eps
+ warp_sum(squares) / D - centre * centre + eps

? variance_instead_of_r: What is kept for the backward is the variance, not r.
- r[row] = scale;
+ r[row] = 1 / (scale * scale);

? whole_chunks_of_columns: The loop over the columns ends for all lanes together, beyond the end of the row.
- for (int column = lane; column < D; column += 32)
+ for (int column = lane; column - lane < D; column += 32)

? zeros_less_the_mean: In the places beyond the last column stands 0 less the mean, and its square is added.
- if (lane + 32 * i < D) squares
+ squares
"""
