"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? always_two_heads: The backward cuts the gradient of o into two heads, however many there are.
def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    y, _ = solution.attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads)
    _, other = solution.attention(x, qkv_weight, qkv_bias, out_weight, out_bias, min(2, heads))
    return y, other

def attention_backward(dy, cache):
    return solution.attention_backward(dy, cache)

? attention_not_transposed_for_the_values: dv is mixed with A instead of its transpose.
- dv = A.swapaxes(-1, -2) @ dy
+ dv = A @ dy

? attention_spoilt_by_the_backward: The cached attention is scaled in place by the backward.
-     dS = softmax_backward(dA, softmax_cache)
+     dS = A
+     dS *= dA - (dA * A).sum(axis=-1, keepdims=True)

? bias_gradients_averaged: The gradients of the biases are averaged over images and tokens instead of summed.
def attention_backward(dy, cache):
    dx, dweight, dbias, dout_weight, dout_bias = solution.attention_backward(dy, cache)
    rows = dy.shape[0] * dy.shape[1]
    return dx, dweight, dbias / rows, dout_weight, dout_bias / rows

? checks_one_head: trust_multi_head tries a single head, in which nothing is cut or joined.
- ((2, 5, 6, 3), (3, 2, 8, 2))
+ ((2, 5, 6, 1),)

? checks_the_gradients_alone: trust_multi_head never looks at the values.
- _head_by_head(*inputs, heads), rtol=0, atol=1e-9)
+ forward(*inputs, heads)[0])

? checks_two_heads: trust_multi_head tries two heads only.
- ((2, 5, 6, 3), (3, 2, 8, 2))
+ ((3, 2, 8, 2),)

? columns_ordered_by_head: The columns of qkv_weight are taken in the order (head, q k v, K).
def split_heads(qkv, heads):
    B, N, columns = qkv.shape
    return tuple(qkv.reshape(B, N, heads, 3, columns // (3 * heads)).transpose(3, 0, 2, 1, 4))

def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    D = x.shape[-1]
    order = np.arange(3 * D).reshape(heads, 3, D // heads).transpose(1, 0, 2).reshape(-1)
    y, cache = solution.attention(x, qkv_weight[:, order], qkv_bias[order], out_weight, out_bias, heads)
    return y, (cache, order)

def attention_backward(dy, cache):
    cache, order = cache
    dx, dweight, dbias, *others = solution.attention_backward(dy, cache)
    back = order.argsort()
    return dx, dweight[:, back], dbias[back], *others

? divided_by_k: The scores are divided by K instead of its root, forward and backward.
- q = q * (1 / math.sqrt(q.shape[-1]))
+ q = q * (1 / q.shape[-1])
- dS @ k * (1 / math.sqrt(q.shape[-1]))
+ dS @ k * (1 / q.shape[-1])

? divided_by_the_root_of_n: The scores are divided by the root of the number of tokens, forward and backward.
- q = q * (1 / math.sqrt(q.shape[-1]))
+ q = q * (1 / math.sqrt(q.shape[1]))
- dS @ k * (1 / math.sqrt(q.shape[-1]))
+ dS @ k * (1 / math.sqrt(q.shape[1]))

? groups_averaged: The gradients of shared keys are averaged over the heads of a group.
- (dS.swapaxes(-1, -2) @ q).sum(axis=2)
+ (dS.swapaxes(-1, -2) @ q).mean(axis=2)
- (A.swapaxes(-1, -2) @ dy).sum(axis=2)
+ (A.swapaxes(-1, -2) @ dy).mean(axis=2)

? groups_interleaved: Head h asks group h modulo G instead of the groups in a row.
- q, dy = (array.reshape(B, G, H // G, N, K) for array in (q, dy))
+ q, dy = (array.reshape(B, H // G, G, N, K).swapaxes(1, 2) for array in (q, dy))
- (dS @ keys).reshape(B, H, N, K)
+ (dS @ keys).swapaxes(1, 2).reshape(B, H, N, K)

? heads_read_a_slice: Each head gets its own slice of the token: as if most of qkv_weight were zero.
def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    D = x.shape[-1]
    K = D // heads
    own = np.zeros((D, 3, heads, K), x.dtype)
    for h in range(heads):
        own[h * K : (h + 1) * K, :, h] = 1
    own = own.reshape(D, 3 * D)
    y, cache = solution.attention(x, qkv_weight * own, qkv_bias, out_weight, out_bias, heads)
    return y, (cache, own)

def attention_backward(dy, cache):
    cache, own = cache
    dx, dweight, *others = solution.attention_backward(dy, cache)
    return dx, dweight * own, *others

? keys_of_the_last_piece: dk and dv are those of the last piece instead of the sum over all.
- dk += dS.swapaxes(-1, -2) @ q[:, asking]
+ dk = dS.swapaxes(-1, -2) @ q[:, asking]
- dv += A.swapaxes(-1, -2) @ dy[:, asking]
+ dv = A.swapaxes(-1, -2) @ dy[:, asking]

? last_piece_forgotten: The tokens that do not fill a piece are left out.
- range(0, q.shape[1], piece)
+ range(0, q.shape[1] - piece + 1, piece)
- dq, dk, dv = np.empty_like(q), np.zeros_like(k), np.zeros_like(v)
+ dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)

? lean_in_name_only: The whole A is computed at once: the pieces are as large as the image.
- asking = slice(start, start + piece)
+ asking = slice(0, None)
- range(0, q.shape[1], piece)
+ range(1)

? no_maximum: The softmax is written out without subtracting the largest score: exp overflows.
-     A, softmax_cache = softmax(q @ k.swapaxes(-1, -2))
+     A = np.exp(q @ k.swapaxes(-1, -2))
+     softmax_cache = A = A / A.sum(-1, keepdims=True)

? no_output_projection: The heads are joined and returned as they are.
def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    identity = np.eye(x.shape[-1], dtype=x.dtype)
    return solution.attention(x, qkv_weight, qkv_bias, identity, out_bias * 0, heads)

def attention_backward(dy, cache):
    dx, dweight, dbias, dout_weight, dout_bias = solution.attention_backward(dy, cache)
    return dx, dweight, dbias, dout_weight * 0, dout_bias * 0

? pieces_talk_to_themselves: The queries of a piece ask only the keys of the same piece.
- q[:, asking] @ k.swapaxes
+ q[:, asking] @ k[:, asking].swapaxes
- dy[:, asking] @ v.swapaxes(-1, -2), A
+ dy[:, asking] @ v[:, asking].swapaxes(-1, -2), A
- dq[:, asking] = dS @ k
+ dq[:, asking] = dS @ k[:, asking]
- dk += dS.swapaxes(-1, -2) @ q[:, asking]
+ dk[:, asking] = dS.swapaxes(-1, -2) @ q[:, asking]
- dv += A.swapaxes(-1, -2) @ dy[:, asking]
+ dv[:, asking] = A.swapaxes(-1, -2) @ dy[:, asking]

? reshaped_without_transpose: Heads are cut and joined by a reshape alone: a head gets pieces of one token
  instead of a piece of each.
from tinyvit.ops import linear, linear_backward

def split_heads(qkv, heads):
    B, N, columns = qkv.shape
    D = columns // 3
    return tuple(qkv[..., s * D : (s + 1) * D].reshape(B, heads, N, D // heads) for s in range(3))

def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    qkv, qkv_cache = linear(x, qkv_weight, qkv_bias)
    q, k, v = split_heads(qkv, heads)
    A, softmax_cache = softmax(q @ k.swapaxes(-1, -2) * (1 / math.sqrt(k.shape[-1])))
    y, out_cache = linear((A @ v).reshape(x.shape), out_weight, out_bias)
    return y, (q, k, v, A, qkv_cache, softmax_cache, out_cache)

def attention_backward(dy, cache):
    q, k, v, A, qkv_cache, softmax_cache, out_cache = cache
    dO, dout_weight, dout_bias = linear_backward(dy, out_cache)
    dO = dO.reshape(q.shape)
    dS = softmax_backward(dO @ v.swapaxes(-1, -2), softmax_cache) * (1 / math.sqrt(k.shape[-1]))
    parts = (dS @ k, dS.swapaxes(-1, -2) @ q, A.swapaxes(-1, -2) @ dO)
    dqkv = np.concatenate([part.reshape(dy.shape) for part in parts], axis=-1)
    return *linear_backward(dqkv, qkv_cache), dout_weight, dout_bias

? root_forgotten_in_backward: The backward leaves out the division of dq by the root of K.
- dS @ k * (1 / math.sqrt(q.shape[-1]))
+ dS @ k

? root_of_numpy: np.sqrt returns a NumPy float64, which turns a float32 dq into float64.
- dS @ k * (1 / math.sqrt(q.shape[-1]))
+ dS @ k * (1 / np.sqrt(q.shape[-1]))

? root_twice: dk is divided by the root of K although the cached queries are scaled already.
- dk = dS.swapaxes(-1, -2) @ q
+ dk = dS.swapaxes(-1, -2) @ q * (1 / math.sqrt(q.shape[-1]))

? scaled_by_the_width: The scores are divided by the root of D instead of K.
def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    D = x.shape[-1]
    scale = np.ones(3 * D, x.dtype)
    scale[:D] = 1 / math.sqrt(heads)
    y, cache = solution.attention(x, qkv_weight * scale, qkv_bias * scale, out_weight, out_bias, heads)
    return y, (cache, scale)

def attention_backward(dy, cache):
    cache, scale = cache
    dx, dweight, dbias, *others = solution.attention_backward(dy, cache)
    return dx, dweight * scale, dbias * scale, *others

? scores_not_transposed_for_the_keys: dk takes dS as it is: the rows of those who ask instead of the columns
  of those who are asked.
- dk = dS.swapaxes(-1, -2) @ q
+ dk = dS @ q

? softmax_down_the_columns: The softmax runs over the tokens that ask instead of those that are asked.
-     A, softmax_cache = softmax(q @ k.swapaxes(-1, -2))
+     A, softmax_cache = softmax(k @ q.swapaxes(-1, -2))
+     A = A.swapaxes(-1, -2)
- dS = softmax_backward(dA, softmax_cache)
+ dS = softmax_backward(dA.swapaxes(-1, -2), softmax_cache).swapaxes(-1, -2)

? softmax_gradient_without_row_sums: The softmax is taken for an elementwise function with slope A (1 - A).
- dS = softmax_backward(dA, softmax_cache)
+ dS = A * (1 - A) * dA

? softmax_over_all_pairs: One softmax is taken over all N x N scores of an image.
def single_head(q, k, v):
    q = q * (1 / math.sqrt(q.shape[-1]))
    S = q @ k.swapaxes(-1, -2)
    A, softmax_cache = softmax(S.reshape(len(S), -1))
    A = A.reshape(S.shape)
    return A @ v, (q, k, v, A, softmax_cache)

def single_head_backward(dy, cache):
    q, k, v, A, softmax_cache = cache
    dA = dy @ v.swapaxes(-1, -2)
    dS = softmax_backward(dA.reshape(len(dA), -1), softmax_cache).reshape(dA.shape)
    dq = dS @ k * (1 / math.sqrt(q.shape[-1]))
    return dq, dS.swapaxes(-1, -2) @ q, A.swapaxes(-1, -2) @ dy
"""
