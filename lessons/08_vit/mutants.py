"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? added_in_place: The stream is changed in place, and with it the caller's x.
- x = x + a  # (B, N, D)  eq. 1: a new array, the caller keeps its own
+ x += a  # (B, N, D)  eq. 1: a new array, the caller keeps its own

? always_two_heads: The number of heads is 2, whatever was asked for.
-     n, norm1 = ops.layer_norm(x, *(params[name] for name in NORM1))
+     heads = 2
+     n, norm1 = ops.layer_norm(x, *(params[name] for name in NORM1))

? attention_gets_dy: The attention's backward is given dy instead of all that arrived at x'.
- dn, *dattention = ops.attention_backward(dmiddle, attn)
+ dn, *dattention = ops.attention_backward(dy, attn)

? attention_thrown_away: The second branch is added to x instead of x'.
- x = x + a  # (B, N, D)  eq. 1: a new array, the caller keeps its own
+ middle = x + a  # (B, N, D)  eq. 1: a new array, the caller keeps its own
- n, norm2 = ops.layer_norm(x, *
+ n, norm2 = ops.layer_norm(middle, *

? blocks_walked_forwards: The backward starts at the first block.
- for i in reversed(range(len(blocks))):
+ for i in range(len(blocks)):

? cache_in_a_global: All blocks share one cache, so that each overwrites the last one's:
  every block needs its own.
-     return x + m, (norm1, attn, norm2, hidden)
+     KEPT[:] = norm1, attn, norm2, hidden
+     return x + m, None
- norm1, attn, norm2, hidden = cache
+ norm1, attn, norm2, hidden = KEPT
- def block(x, params, heads):
+ KEPT = []
+
+
+ def block(x, params, heads):

? cache_spoiled: The backward adds its gradient to an array of the cache.
-     norm1, attn, norm2, hidden = cache
+     norm1, attn, norm2, hidden = cache
+     norm2[0][...] += 0.1 * dy

? cache_used_up: The backward empties the list of the blocks' caches as it walks.
- block_backward(dx, blocks[i])
+ block_backward(dx, blocks.pop())

? class_token_last: The class token is put after the patches, and the first token is read.
-     x, token = ops.class_token(x, params["class_token"])  # (B, N, D)
+     x, token = ops.class_token(x, params["class_token"])
+     x = np.roll(x, -1, axis=1)
- ops.class_token_backward(dx, token)
+ ops.class_token_backward(np.roll(dx, 1, axis=1), token)

? first_block_for_all: Every block is given the parameters of block 0.
- params[f"blocks.{i}.{name}"] for
+ params[f"blocks.0.{name}"] for

? gradient_for_every_row: The gradient of the logits goes to every token, though row 0 alone was read.
-     dx[:, 0], grads["head.weight"], grads["head.bias"] = ops.linear_backward(dlogits, head)
+     first, grads["head.weight"], grads["head.bias"] = ops.linear_backward(dlogits, head)
+     dx[...] = first[:, None]

? gradients_of_the_norms_swapped: The gradients of the two LayerNorms go back under each other's names.
- return dmiddle + branch, dict(zip(BLOCK, dnorm1 + dattention + dnorm2 + dmlp, strict=True))
+ return dmiddle + branch, dict(zip(BLOCK, dnorm2 + dattention + dnorm1 + dmlp, strict=True))

? last_norm_left_out: No LayerNorm after the last block.
- x, norm = ops.layer_norm(x, params["norm.weight"], params["norm.bias"])
+ norm = None
- dx, grads["norm.weight"], grads["norm.bias"] = ops.layer_norm_backward(dx, norm)
+ grads["norm.weight"] = grads["norm.bias"] = 0 * dx[0, 0]

? mean_of_all_tokens: The head reads the mean of all tokens, not the class token.
- ops.linear(x[:, 0], params
+ ops.linear(x.mean(axis=1), params

? model_cache_in_a_global: The backward takes the cache of whichever model ran last.
- def forward(config, params, images):
+ LAST = []
+
+
+ def forward(config, params, images):
-     return logits, (patch, token, position, blocks, norm, x.shape, head)
+     LAST[:] = patch, token, position, blocks, norm, x.shape, head
+     return logits, None
-     patch, token, position, blocks, norm, shape, head = cache
+     patch, token, position, blocks, norm, shape, head = LAST

? norm_on_the_road: The branch is added to the normalised tokens instead of the stream; the
  backward follows suit.
- x = x + a  # (B, N, D)  eq. 1: a new array, the caller keeps its own
+ x = n + a  # (B, N, D)  eq. 1: a new array, the caller keeps its own
-     branch, *dnorm1 = ops.layer_norm_backward(dn, norm1)
-     return dmiddle + branch, dict(zip(BLOCK, dnorm1 + dattention + dnorm2 + dmlp, strict=True))
+     dx, *dnorm1 = ops.layer_norm_backward(dn + dmiddle, norm1)
+     return dx, dict(zip(BLOCK, dnorm1 + dattention + dnorm2 + dmlp, strict=True))

? nothing_added: The block returns its second branch alone: the stream x' is not added to it.
- return x + m, (
+ return m, (

? parameters_by_their_order: The parameters are read in the order of the dict, whatever their names.
def block(x, params, heads):
    return solution.block(x, dict(zip(solution.BLOCK, params.values(), strict=True)), heads)

? pixels_of_the_next_patch: The pixels' gradient is that of the patch to the left.
def pixel_gradient(config, params, images, dlogits):
    return np.roll(solution.pixel_gradient(config, params, images, dlogits), config.patch_size, axis=2)

? position_gradient_forgotten: The position embedding never learns.
- dx, grads["position"] = ops.position_embedding_backward(dx, position)
+ grads["position"] = np.zeros_like(dx[0])

? post_norm_skips_the_norm: Post-norm's straight path goes around the norm, as in pre-norm.
- ops.layer_norm_backward(dsum + branch, norm1)
+ ops.layer_norm_backward(branch, norm1)

? skip_forgotten_at_the_attention: The gradient takes only the branch at the first addition.
- return dmiddle + branch, dict(
+ return branch, dict(

? skip_forgotten_at_the_mlp: The gradient takes only the branch at the second addition.
- dmiddle = dy + branch
+ dmiddle = branch

? trusts_a_fresh_model: The gradient check runs on a freshly initialised model, whose head is zero.
- from tinyvit.model import ViTConfig
+ from tinyvit.model import ViTConfig, initialise
- dict(random_params(config, rng))
+ dict(initialise(config, 0, "float64"))

? trusts_a_sum: The gradient check has the sum of the logits for its loss.
- dlogits = rng.normal(size=logits.shape)
+ dlogits = np.ones(logits.shape)

? trusts_one_image: The gradient check runs on a single image.
- rng.normal(size=(2, 4, 6, 3))
+ rng.normal(size=(1, 4, 6, 3))
"""
