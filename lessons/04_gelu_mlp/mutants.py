"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? bias_gradient_not_summed: The gradients of both biases keep the axes of images and tokens.
from tinyvit.ops import linear_backward

def mlp_backward(dy, cache):
    cache1, gelu_cache, cache2 = cache
    dg, dweight2, _ = linear_backward(dy, cache2)
    dh = gelu_backward(dg, gelu_cache)
    dx, dweight1, _ = linear_backward(dh, cache1)
    return dx, dweight1, dh, dweight2, dy

? cache_spoiled: The backward multiplies the slope into the gate that the forward has kept.
def gelu_backward(dy, cache):
    _, gate, _ = cache
    slope = solution.gelu_backward(np.ones_like(dy), cache)
    gate[...] = slope
    return dy * gate

? derivative_of_the_other_form: The tanh form forward, the slope of the exact one backward.
from tinyvit.ops import erf

def gelu_backward(dy, cache):
    x, *_ = cache
    density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return dy * ((1 + erf(x / math.sqrt(2))) / 2 + x * density)

? exact_is_the_default: Without a form, it is the exact one.
def gelu(x, form="exact"):
    return solution.gelu(x, form)

? float64_density: The constant of the density is a float64 number of NumPy, so the exact slope is float64.
def gelu_backward(dy, cache):
    x, gate, form = cache
    if form == "tanh":
        return solution.gelu_backward(dy, cache)
    return dy * (gate + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi))

? form_ignored: The form is ignored: it is always the tanh form.
def gelu(x, form="tanh"):
    return solution.gelu(x, "tanh")

? form_in_a_global: The form is kept in a global, so a second forward with the other form overwrites it.
_KEPT = {}

def gelu(x, form="tanh"):
    y, (x, gate, _KEPT["form"]) = solution.gelu(x, form)
    return y, (x, gate)

def gelu_backward(dy, cache):
    return solution.gelu_backward(dy, (*cache, _KEPT["form"]))

? gelu_skipped: The backward goes from the second layer to the first as if nothing stood between them.
from tinyvit.ops import linear_backward

def mlp_backward(dy, cache):
    cache1, _, cache2 = cache
    dg, dweight2, dbias2 = linear_backward(dy, cache2)
    dx, dweight1, dbias1 = linear_backward(dg, cache1)
    return dx, dweight1, dbias1, dweight2, dbias2

? gradients_in_the_order_of_the_backward: The gradients are returned in the order in which they are computed,
  the last layer first.
def mlp_backward(dy, cache):
    dx, dweight1, dbias1, dweight2, dbias2 = solution.mlp_backward(dy, cache)
    return dx, dweight2, dbias2, dweight1, dbias1

? inner_derivative_without_the_three: The derivative of x^3 is taken for x^2: the factor 3 is missing in
  du/dx.
def gelu_backward(dy, cache):
    x, gate, form = cache
    if form == "exact":
        return solution.gelu_backward(dy, cache)
    slope = math.sqrt(2 / math.pi) * (1 + 0.044715 * x * x)
    return dy * (gate + x * gate * (1 - gate) * 2 * slope)

? mlp_ignores_the_form: The MLP calls GELU without handing on the form.
def mlp(x, weight1, bias1, weight2, bias2, gelu_form="tanh"):
    return solution.mlp(x, weight1, bias1, weight2, bias2)

? one_or_zero_far_out: Beyond 3 the slope is rounded to 1 or 0, which is off by one part in a hundred.
def gelu_backward(dy, cache):
    x = cache[0]
    return np.where(np.abs(x) > 3, dy * (x > 0), solution.gelu_backward(dy, cache)).astype(dy.dtype)

? overflows: The gate is written exp(2u) / (1 + exp(2u)), which is inf / inf for large x.
def gelu(x, form="tanh"):
    if form == "exact":
        return solution.gelu(x, form)
    e = np.exp(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    gate = e / (1 + e)
    return x * gate, (x, gate, form)

? product_rule_forgotten: The gate is treated as a constant: dy times the gate.
def gelu_backward(dy, cache):
    _, gate, _ = cache
    return dy * gate

? root_divides_erf: The root of 2 divides erf instead of its argument.
from tinyvit.ops import erf

def gelu(x, form="tanh"):
    if form == "tanh":
        return solution.gelu(x, form)
    gate = (1 + erf(x) / math.sqrt(2)) / 2
    return x * gate, (x, gate, form)

? root_of_numpy: np.sqrt(2 / np.pi) is a float64 number, and makes a float32 array float64.
def gelu(x, form="tanh"):
    if form == "exact":
        return solution.gelu(x, form)
    gate = (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2
    return x * gate, (x, gate, form)

? second_weight_learns_from_h: The gradient of the second weight is taken with h, what went into GELU, instead
  of g.
def mlp_backward(dy, cache):
    dx, dweight1, dbias1, _, dbias2 = solution.mlp_backward(dy, cache)
    h = cache[1][0]
    dweight2 = h.reshape(-1, h.shape[-1]).T @ dy.reshape(-1, dy.shape[-1])
    return dx, dweight1, dbias1, dweight2, dbias2

? slope_taken_at_g: The slope of GELU is taken at what came out of it instead of what went in.
from tinyvit.ops import linear_backward

def mlp_backward(dy, cache):
    cache1, (h, gate, form), cache2 = cache
    dg, dweight2, dbias2 = linear_backward(dy, cache2)
    _, cache_at_g = gelu(h * gate, form)
    dx, dweight1, dbias1 = linear_backward(gelu_backward(dg, cache_at_g), cache1)
    return dx, dweight1, dbias1, dweight2, dbias2

? swiglu_gate_as_a_constant: swiglu: the slope of the gate itself is left out, as if it were a constant.
- b * (gate + a * gate * (1 - gate))
+ b * gate

? swiglu_one_road_to_x: swiglu: x gets back only what went through the bent half.
- da @ weight_a.T + db @ weight_b.T
+ da @ weight_a.T

? weight_reshaped_not_transposed: dg is dy times W2 brought to the transposed shape by a reshape: a transpose
  is missing.
from tinyvit.ops import linear_backward

def mlp_backward(dy, cache):
    cache1, gelu_cache, cache2 = cache
    _, dweight2, dbias2 = linear_backward(dy, cache2)
    weight2 = cache2[1]
    dg = dy @ weight2.reshape(weight2.shape[::-1])
    dx, dweight1, dbias1 = linear_backward(gelu_backward(dg, gelu_cache), cache1)
    return dx, dweight1, dbias1, dweight2, dbias2

? works_in_place: The gate is multiplied into x itself.
def gelu(x, form="tanh"):
    y, (_, gate, _) = solution.gelu(x, form)
    cache = (x.copy(), gate, form)
    x[...] = y
    return x, cache
"""
