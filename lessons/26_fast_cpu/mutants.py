"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? a_thread_for_each_piece: As many threads as pieces, whatever was asked for.
- B = len(images)
+ B, threads = len(images), pieces

? added_as_they_finish: The gradients are added in the order in which the threads finish.
- import ThreadPoolExecutor
+ import ThreadPoolExecutor, as_completed
- list(pool.map(work, range(threads)))
+ [each.result() for each in as_completed([pool.submit(work, t) for t in range(threads)])]

? all_rows_at_once: Right, but one piece.
- g, rows = np.empty((R, M), dtype=h.dtype), max(1, PIECE // M)
+ g, rows = np.empty((R, M), dtype=h.dtype), R

? attention_in_float64: The scale is a float64 array of NumPy, which makes the others float64.
- new_weight[:, :D] *= scale
+ new_weight = np.hstack([new_weight[:, :D] * np.float64(scale), new_weight[:, D:]])

? bias_forgotten: The bias of the linear layer is forgotten.
- offset @ weight + bias  # eq. 3
+ offset @ weight

? bias_gradient_is_the_same_array: The gradient of the bias is the array that was given.
- return dgain, doffset, dweight, dfolded_bias.copy()
+ return dgain, doffset, dweight, dfolded_bias

? equal_shares: Each piece has the share 1/pieces, though some have an image more.
- (part.stop - part.start) / B
+ 1 / pieces

? folded_in_float64: The folded matrix is made with an array of float64.
- gain[:, None] * weight, offset
+ np.eye(len(gain)) * gain @ weight, offset

? forty_rows_a_piece: Forty rows a piece, however long they are.
- g, rows = np.empty((R, M), dtype=h.dtype), max(1, PIECE // M)
+ g, rows = np.empty((R, M), dtype=h.dtype), 40

? gain_gradient_from_the_folded_matrix: The gradient of the gain is taken with W', which has the gain in it
  already.
- (weight * dfolded_weight)
+ (gain[:, None] * weight * dfolded_weight)

? gelu_in_float64: The values are kept in float64.
- g, rows = np.empty((R, M), dtype=h.dtype), max(1, PIECE // M)
+ g, rows = np.empty((R, M), dtype=float), max(1, PIECE // M)

? gradient_overwritten: The gradient of the weight is written over that of W'.
-     dweight = gain[:, None] * dfolded_weight + np.outer(offset, dfolded_bias)  # eq. 6
+     dweight = dfolded_weight
+     dweight *= gain[:, None]
+     dweight += np.outer(offset, dfolded_bias)

? gradients_in_another_order: The gradient of the weight comes first.
- return dgain, doffset, dweight, dfolded_bias.copy()
+ return dweight, dfolded_bias.copy(), dgain, doffset

? key_offsets_kept: The offsets of the keys stay.
-     new_bias[:D] = qkv_bias[:D] * scale
+     new_bias[: 2 * D] = qkv_bias[: 2 * D]
+     new_bias[:D] *= scale

? last_images_lost: Pieces of B // pieces images each: those left over at the end are never seen.
- B = len(images)
+ B = len(images) // pieces * pieces

? last_matrix_shared: The last matrix is returned as it was given.
- return new_weight, new_bias, out_weight.copy(), qkv_bias[2 * D :] @ out_weight + out_bias
+ return new_weight, new_bias, out_weight, qkv_bias[2 * D :] @ out_weight + out_bias

? last_rows_lost: The rows after the last full piece keep what was there.
- for start in range(0, R, rows):
+ for start in range(0, R - rows + 1, rows):
- np.empty((R, M), dtype=h.dtype)
+ np.zeros((R, M), dtype=h.dtype)

? long_last_piece: All pieces have B // pieces images, and the last one has the rest.
- [B * i // pieces for i in range(pieces + 1)]
+ [B // pieces * i for i in range(pieces)] + [B]

? loss_multiplied_twice: The loss of a piece, multiplied by its share already, is multiplied by it once more.
- return sum(loss for loss, _ in results), grads
+ return sum(loss for loss, _ in results) / pieces, grads

? offset_gradient_from_the_folded_matrix: The gradient of the offset is taken with W'.
- doffset = weight @ dfolded_bias
+ doffset = (gain[:, None] * weight) @ dfolded_bias

? offset_scaled_by_the_gain: The offset is multiplied by the gain before it goes through the matrix.
- offset @ weight + bias  # eq. 3
+ (gain * offset) @ weight + bias

? one_after_another: The pieces are worked on one after another.
- B = len(images)
+ B, threads = len(images), 1

? one_buffer_for_all: All threads add to one buffer, which is then added up once for each thread.
-     def work(thread):
-         own, loss = params.zeros_like(), 0.0
+     own = params.zeros_like()
+
+     def work(thread):
+         loss = 0.0

? one_row_a_piece: Every piece is a single row, however short.
- g, rows = np.empty((R, M), dtype=h.dtype), max(1, PIECE // M)
+ g, rows = np.empty((R, M), dtype=h.dtype), 1

? overflows: The gate is exp(2u) / (1 + exp(2u)), and inf / inf is NaN.
-         np.tanh(s, out=s)
-         s *= 0.5
-         s += 0.5
+         s = np.exp(2 * s) / (1 + np.exp(2 * s))

? pieces_handed_out_freely: As many tables as threads, but any thread takes the next piece: two may add to one
  table at a time.
-     def work(thread):
-         own, loss = params.zeros_like(), 0.0
+     tables = [params.zeros_like() for _ in range(threads)]
+
+     def work(piece):
+         own, loss = tables[piece % threads], 0.0
- for part in parts[thread::threads]:
+ for part in parts[piece : piece + 1]:
- list(pool.map(work, range(threads)))
+ list(pool.map(work, range(pieces)))
- for _, own in results:
+ for own in tables:

? query_offsets_lost: The offsets of the queries are dropped with those of the keys.
- new_bias[:D] = qkv_bias[:D] * scale
+

? query_offsets_not_scaled: The offsets of the queries are not scaled.
- new_bias[:D] = qkv_bias[:D] * scale
+ new_bias[:D] = qkv_bias[:D]

? scale_of_the_width: The scores are divided by the root of D, not of K.
- scale = math.sqrt(heads / D)
+ scale = math.sqrt(1 / D)

? scale_twice: Queries and keys are both scaled.
- new_weight[:, :D] *= scale
+ new_weight[:, : 2 * D] *= scale

? share_forgotten: Every piece counts as if it were the whole batch.
- loss += objectives.loss_and_grads(config, params, images[part], labels[part], own, share=share)
+ loss += objectives.loss_and_grads(config, params, images[part], labels[part], own)

? slope_at_the_value: The slope is taken where the value has been put already.
-         square *= 6 * CUBIC
+         np.multiply(g_, g_, out=square)
+         square *= 6 * CUBIC

? slope_begins_with_one: The inner derivative begins with 1 where the square root of 2 / pi belongs.
- square += 2 * LINEAR
+ square += 2

? slope_in_a_copy: The slope is written into a copy of h.
-     R, M = h.shape
+     R, M = h.shape
+     h = h.copy()

? slope_in_a_reshaped_h: The pieces are cut from h made contiguous, which copies a view.
-     R, M = h.shape
+     R, M = h.shape
+     h = np.ascontiguousarray(h)

? slope_without_the_factor_h: The slope is the gate alone: h counts as a factor only.
-         h_ *= square
-         h_ += s  # eq. 8
+         h_[...] = s

? slope_without_the_three: The inner derivative lacks the 3 of h cubed.
- square *= 6 * CUBIC
+ square *= 2 * CUBIC

? table_kept: One table of results is kept for all calls and cleared by each.
- PIECE = 32_768
+ kept = {}
+ PIECE = 32_768
-     grads = params.zeros_like()
+     grads = kept.setdefault(params.flat.dtype, params.zeros_like())
+     grads.flat.fill(0)

? trusts_even_pieces: Only pieces of one size are tried.
- (3, 2), (8, 3), (9, 2), (2, 5))
+ (3, 2), (9, 2), (3, 5))

? trusts_two_equal_calls: Calls are compared with each other, none with the whole batch.
- if abs(loss - right) > 1e-9 or np.abs(table.flat - expected.flat).max() > 1e-9:
+ if not np.isfinite(loss):

? trusts_whoever_spares_the_images: Nobody looks whether the labels and the parameters have been changed.
- if not all(map(np.array_equal, given, (wide.flat, images, labels))):
+ if not np.array_equal(given[1], images):

? unfold_in_float64: The gain's gradient is added up in float64.
- (weight * dfolded_weight).sum(axis=1)
+ (weight * dfolded_weight).sum(axis=1, dtype=float)

? value_and_slope_exchanged: The slope is returned, and h becomes the value.
-         h_ += s  # eq. 8
+         h_ += s
+         g_[...], h_[...] = h_.copy(), g_.copy()

? value_offsets_lost: The offsets of the values are dropped with those of the keys.
- qkv_bias[2 * D :] @ out_weight + out_bias
+ out_bias.copy()

? value_offsets_not_mixed: The offsets of the values are added without going through the last matrix.
- qkv_bias[2 * D :] @ out_weight + out_bias
+ qkv_bias[2 * D :] + out_bias

? way_through_the_bias_forgotten: The weight goes into c' too; this way is forgotten.
- + np.outer(offset, dfolded_bias)  # eq. 6
+

? weight_gradient_without_the_gain: The gradient of W' is taken for that of the weight.
- gain[:, None] * dfolded_weight
+ dfolded_weight

? weight_overwritten: The folded matrix is written over the weight.
-     return gain[:, None] * weight, offset @ weight + bias  # eq. 3
+     b = offset @ weight + bias
+     weight *= gain[:, None]
+     return weight, b
"""
