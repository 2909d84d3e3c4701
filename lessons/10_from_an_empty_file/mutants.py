"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
@ tinyvit/in_one_file.py

# update

? adam_without_correction: Adam's running means are not corrected for their start at zero.
- lr * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
+ lr * m / (np.sqrt(v) + 1e-8)

? moments_shared_by_shape: Two parameters of the same shape share Adam's running means.
- m, v = state.setdefault(name, (np.zeros_like(g), np.zeros_like(g)))
+ m, v = state.setdefault(g.shape, (np.zeros_like(g), np.zeros_like(g)))

? update_makes_new_arrays: Adam's step makes new arrays, and leaves those that the caller holds as they were.
- w -= lr * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
+ params[name] = w - lr * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)

# blocks

? attention_before_the_mlp_backward: The gradient goes through the attention of a block before it goes through
  the MLP.
-     dg, *dfc2 = linear_backward(dy, fc2_cache)
+     dy = dy + layer_norm_backward(attention_backward(dy, attn_cache)[0], norm1_cache)[0]
+     dg, *dfc2 = linear_backward(dy, fc2_cache)

? blocks_walked_forwards: The blocks are walked from the first to the last on the way back.
- for cache in reversed(block_caches):
+ for cache in block_caches:
- dblocks = dblock + dblocks
+ dblocks = dblocks + dblock

# skip connection

? attention_gets_dy: The backward of attention is given the gradient of the block's result, without the part
  through the MLP.
- attention_backward(dx, attn_cache)
+ attention_backward(dx - dbranch, attn_cache)

? no_skip_around_the_mlp: The MLP's result replaces the tokens instead of being added.
- return x + m, (norm1_cache, attn_cache, norm2_cache, fc1_cache, gelu_cache, fc2_cache)
+ return m, (norm1_cache, attn_cache, norm2_cache, fc1_cache, gelu_cache, fc2_cache)

? no_skip_backward_around_attention: The gradient does not take the skip connection around attention.
- return dx + dbranch, *dnorm1
+ return dbranch, *dnorm1

? no_skip_backward_around_the_mlp: The gradient does not take the skip connection around the MLP.
- dx = dy + dbranch
+ dx = dbranch

? skip_from_the_normed_tokens: The MLP's result is added to the normalised tokens.
- return x + m, (norm1_cache, attn_cache, norm2_cache, fc1_cache, gelu_cache, fc2_cache)
+ return n + m, (norm1_cache, attn_cache, norm2_cache, fc1_cache, gelu_cache, fc2_cache)

# predict

? bytes_predicted_as_they_are: Predictions are made from bytes that are not normalised.
- normalise(batch, like=params["position"])
+ batch.astype(np.float32)

? bytes_predicted_from_0_to_1: Predictions are made from other numbers than those that were learned.
- normalise(batch, like=params["position"])
+ (batch / 255).astype(np.float32)

? last_images_not_predicted: The images beyond the last whole mini-batch get no prediction.
- range(0, len(images), 100)
+ range(0, len(images) - len(images) % 100, 100)

# train

? every_epoch_in_the_same_order: The images are never shuffled.
- rng.permutation(len(images))
+ np.arange(len(images))

? fresh_parameters_returned: Training returns the parameters that it began with.
-     return params
+     return init(config, np.random.default_rng(seed))

? images_in_float64: Training runs in float64, since the images do.
- .astype(np.float32) / 127.5 - 1
+ .astype(np.float64) / 127.5 - 1

? images_not_shuffled_by_the_seed: The order of the images comes from the system's clock.
- rng.permutation(len(images))
+ np.random.default_rng().permutation(len(images))

? last_batch_left_out: The images beyond the last whole mini-batch are not learned.
- range(0, len(order), batch)
+ range(0, len(order) - batch + 1, batch)

# layer_norm

? gain_gradient_with_the_gain: The gradient of LayerNorm's gain contains the gain.
- return dx, (dy * n).reshape(-1, D).sum(axis=0), dy.reshape(-1, D).sum(axis=0)
+ return dx, (dn * n).reshape(-1, D).sum(axis=0), dy.reshape(-1, D).sum(axis=0)

? gradient_in_row_1: The gradient of the last LayerNorm's input goes to row 1 of the tokens.
-     dx, *dnorm = layer_norm_backward(dx, norm_cache)
+     dx, *dnorm = layer_norm_backward(dx, norm_cache)
+     dx = np.roll(dx, 1, axis=1)

? large_eps: LayerNorm adds 0.01 under the root instead of 0.000001.
- scale = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-6)
+ scale = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-2)

? no_path_through_the_mean: LayerNorm's backward forgets that the mean was subtracted.
- scale * (dn - dn.mean(axis=-1, keepdims=True) - n
+ scale * (dn - n

? norm_of_a_block_passed_by: The gradient goes around the second LayerNorm of a block unchanged.
- dx = dy + dbranch
+ dx = dy + dn

? norm_without_its_bias: LayerNorm does not add its bias.
- return n * weight + bias, (n
+ return n * weight, (n

? norm_without_its_gain: LayerNorm does not multiply by its gain.
- return n * weight + bias, (n
+ return n + bias, (n

# init

? gains_start_at_one_half: The gains of the norms do not start at 1.
- f"{name}.weight": np.ones(D)
+ f"{name}.weight": np.full(D, 0.5)

? head_not_zero: The head starts at random values.
- "head.weight": np.zeros((D, C))
+ "head.weight": xavier(D, C)

# gelu

? gelu_slope_without_the_three: The slope of GELU's cubic term lacks its factor 3.
- 1 + 3 * 0.044715 * x * x
+ 1 + 0.044715 * x * x

? gelu_without_its_half: GELU lacks the factor one half.
- gate = 0.5 * (1 + np.tanh(
+ gate = 1 * (1 + np.tanh(

# attention

? gradients_of_q_k_v_in_another_order: The gradients of queries and values change places.
- dqkv = np.stack([dq, dk, dv]).transpose(1, 3, 0, 2, 4).reshape(B, N, 3 * H * K)
+ dqkv = np.stack([dv, dk, dq]).transpose(1, 3, 0, 2, 4).reshape(B, N, 3 * H * K)

? heads_glued_without_transpose: The heads are put side by side by a reshape alone.
- (A @ v).swapaxes(1, 2).reshape
+ (A @ v).reshape

? keys_gradient_not_transposed: The gradient of the keys is taken with dS instead of its transpose.
- dq, dk = dS @ k / math.sqrt(K), dS.swapaxes(-1, -2) @ q / math.sqrt(K)
+ dq, dk = dS @ k / math.sqrt(K), dS @ q / math.sqrt(K)

? root_of_k_forgotten_backward: The root of K is missing from the gradient of the scores.
- dS @ k / math.sqrt(K), dS.swapaxes(-1, -2) @ q / math.sqrt(K)
+ dS @ k, dS.swapaxes(-1, -2) @ q

? scores_divided_by_k: The scores are divided by K, not by its root.
- A, softmax_cache = softmax(q @ k.swapaxes(-1, -2) / math.sqrt(D // heads))
+ A, softmax_cache = softmax(q @ k.swapaxes(-1, -2) / (D // heads))

? softmax_with_the_mean: Softmax's backward subtracts the plain mean of dy.
- (dy - (dy * y).sum(axis=-1, keepdims=True))
+ (dy - dy.mean(axis=-1, keepdims=True))

? square_weight_not_transposed: dx of a square matrix is multiplied by the matrix, not by its transpose.
-     dx = (drows @ weight.T).reshape(*dy.shape[:-1], -1)
+     square = weight.shape[0] == weight.shape[1]
+     dx = (drows @ (weight if square else weight.T)).reshape(*dy.shape[:-1], -1)

? values_gradient_not_transposed: The gradient of the values is taken with A instead of its transpose.
- dA, dv = do @ v.swapaxes(-1, -2), A.swapaxes(-1, -2) @ do
+ dA, dv = do @ v.swapaxes(-1, -2), A @ do

? values_gradient_without_A: The gradient of the values lacks the attention.
- dA, dv = do @ v.swapaxes(-1, -2), A.swapaxes(-1, -2) @ do
+ dA, dv = do @ v.swapaxes(-1, -2), do

# linear

? head_gradient_in_row_1: The head's dx goes to row 1 of the tokens.
- dx[:, 0], *dhead = linear_backward(dlogits, head_cache)
+ dx[:, 1], *dhead = linear_backward(dlogits, head_cache)

? weight_gradient_averaged: The gradient of every weight matrix is a mean over the rows.
- rows.T @ drows, drows.sum(axis=0)
+ rows.T @ drows / len(rows), drows.sum(axis=0)

# cross_entropy

? logits_gradient_is_a_sum: The gradient of the logits is not divided by the number of images.
- return -np.log(p[target]).mean(), (p - target) / len(p)
+ return -np.log(p[target]).mean(), p - target

# far scores

? one_maximum_for_all_rows: Softmax subtracts the largest of all scores, and rows far below it become 0 / 0.
- np.exp(x - x.max(axis=-1, keepdims=True))
+ np.exp(x - x.max())

# class_token

? patches_get_the_token_s_gradient: The patches get the gradients of rows 0 to N - 2 of the tokens.
- linear_backward(dx[:, 1:], patch_cache)
+ linear_backward(dx[:, :-1], patch_cache)

? token_gradient_of_all_tokens: The gradient of the class token is summed over all tokens.
- dposition, dclass_token = dx.sum(axis=0), dx[:, 0].sum(axis=0)
+ dposition, dclass_token = dx.sum(axis=0), dx.sum(axis=(0, 1))

# patchify

? patches_without_transpose: The image is cut by a reshape alone.
- .swapaxes(2, 3).reshape(B, -1
+ .reshape(B, -1

# position

? position_gradient_averaged: The gradient of the positions is a mean over the images.
- dposition, dclass_token = dx.sum(axis=0)
+ dposition, dclass_token = dx.mean(axis=0)
"""
