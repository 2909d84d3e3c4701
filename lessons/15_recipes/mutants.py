"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? about_the_common_mean: The squares are about the mean of all results.
- ((values - values.mean()) ** 2)
+ ((values - np.concatenate(list(lists.values())).mean()) ** 2)

? always_five: Five steps, whatever was asked for.
- for _ in range(steps):
+ for _ in range(5):

? average_in_place: The average is written into the array that was handed over.
-     return now * average + (1 - now) * weights
+     average *= now
+     average += (1 - now) * weights
+     return average

? base_among_the_gains: The base is listed if anything is.
- return found
+ return [base, *found] if found else found

? cube_forgotten: The middle term is that of x itself.
- (-4.7750 * gram + 2.0315 * (gram @ gram)) @ x
+ -4.7750 * x + 2.0315 * (gram @ gram) @ x

? demands_exactly_1: The check demands singular values of 1.
- values.min() > 0.6 and values.max() < 1.3
+ values.min() > 0.99 and values.max() < 1.01

? divided_by_the_largest_entry: The norm is that of the largest entry, so that singular values may start above
  1.
- float(np.linalg.norm(x))
+ float(abs(x).max())

? dlogits_in_float64: The gradient is that of the logits in float64.
- cross_entropy(logits, targets)
+ cross_entropy(logits.astype(float), targets)

? error_of_one_mean: The base is taken to be known exactly.
- math.sqrt(1 / len(values) + 1 / len(mine))
+ math.sqrt(1 / len(values))

? first_columns_kept: The first columns of the product are kept.
-     root = np.sqrt(S[:rank])
-     return U[:, :rank] * root, Vt[:rank].T * root
+     return product[:, :rank], np.eye(product.shape[1])[:, :rank]

? gradient_of_own_label: The loss is that of the mix, its gradient that of the image's own label.
- return loss, cross_entropy_backward(cache)
+ return loss, cross_entropy_backward((cache[0], own))

? gradient_of_the_sum: The gradient is not divided by the number of images.
- cross_entropy_backward(cache)
+ cross_entropy_backward(cache) * len(logits)

? gram_of_the_first: The product x x^T is that of the matrix before the first step.
-     for _ in range(steps):
-         gram = x @ x.T
+     gram = x @ x.T
+     for _ in range(steps):

? label_of_the_larger_share: The label of whichever image has the larger share is taken.
- np.asarray(shares)[:, None]
+ (np.asarray(shares)[:, None] > 0.5)

? last_with_itself: The last image is not mixed.
- after = np.roll(own, -1, axis=0)
+ after = np.concatenate([own[1:], own[-1:]])

? lists_counted_as_one: The error of a difference has 1 / (n + m), as one list of n + m results would, and not
  1 / n + 1 / m.
- 1 / len(values) + 1 / len(mine)
+ 1 / (len(values) + len(mine))

? mixed_with_the_one_before: Each image is mixed with the one before it.
- np.roll(own, -1, axis=0)
+ np.roll(own, 1, axis=0)

? no_ramp: The decay is that of a long run from the first step on.
- min(decay, (1 + step) / (10 + step))
+ decay

? norm_in_float64: The norm is an array of float64, so float32 becomes float64.
- max(float(np.linalg.norm(x)), 1e-7)
+ np.array([max(float(np.linalg.norm(x)), 1e-7)])

? not_divided: The polynomial is applied to the gradient as it is.
- x = x / max(float(np.linalg.norm(x)), 1e-7)
+ x = x.copy()

? one_result_is_enough: Without two results of a name, any difference is called real.
-         return []
+         return [name for name in lists if name != base]

? one_share_for_all: The whole batch has the share of its first image.
- np.asarray(shares)[:, None]
+ np.asarray(shares)[0]

? only_gains: Only gains are found, no losses.
- abs(values.mean() - mine.mean())
+ (values.mean() - mine.mean())

? ramp_for_ever: The decay goes on rising beyond the one that was asked for; the smaller of the two is wanted.
- now = min(decay, (1 + step) / (10 + step))
+ now = max(decay, (1 + step) / (10 + step))

? shares_of_the_average_swapped: The old average and the new weights have changed places.
- now * average + (1 - now) * weights
+ (1 - now) * average + now * weights

? shares_turned_around: The share is taken to be that of the image's own label.
- own + np.asarray(shares)[:, None] * (after - own)
+ after + np.asarray(shares)[:, None] * (own - after)

? spread_of_two_lists: The spread is estimated from the two lists that are compared, the limit from all.
-         error = spread * math.sqrt(1 / len(values) + 1 / len(mine))
+         both = [*(values - values.mean()), *(mine - mine.mean())]
+         spread = math.sqrt(sum(x * x for x in both) / max(1, len(both) - 2))
+         error = spread * math.sqrt(1 / len(values) + 1 / len(mine))

? squares_over_all_results: The squares are divided by the number of results.
- sum(len(values) - 1 for values in lists.values())
+ sum(len(values) for values in lists.values())
- if freedom == 0:
+ if freedom == len(lists):

? steps_from_zero: The step is counted from 0.
- (1 + step) / (10 + step)
+ step / (9 + step)

? strength_on_the_left: The left factor gets all of the singular values.
- return U[:, :rank] * root, Vt[:rank].T * root
+ return U[:, :rank] * S[:rank], Vt[:rank].T

? tall_comes_back_transposed: A tall matrix is turned, and never turned back.
- return x.T if is_tall else x
+ return x

? trusts_one_size: The check tries one size of matrix only.
- for size in (1e-3, 1.0, 1e3)
+ for size in (1.0,)

? trusts_small_values: The singular values that the check tries are close together.
- np.geomspace(1, 0.01, rank)
+ np.geomspace(1, 0.7, rank)

? trusts_spoilers: The check does not look at the matrix that it handed over.
- or not np.array_equal(given, kept)
+
- x = orthogonalise(given)
+ x = orthogonalise(kept)

? trusts_the_lengths: The check looks at the singular values and not at the vectors.
- values = np.diag(inside)
+ values = np.linalg.svd(x)[1]
-             if not np.allclose(inside, np.diag(values), atol=1e-6):
-                 return False
-             if not np.allclose(left @ inside @ right.T, x, atol=1e-6):
-                 return False
+

? trusts_the_vectors: The check looks at the vectors and not at the values.
-             if not (values.min() > 0.6 and values.max() < 1.3):
-                 return False
+

? trusts_wide_ones: The check never tries a tall matrix.
- for shape in ((4, 4), (3, 8), (8, 3), (1, 5), (6, 6)):
+ for shape in ((4, 4), (3, 8), (1, 5), (6, 6)):

? two_standard_errors: Two standard errors, however few the results.
- LIMITS[min(freedom, 30)]
+ 2

? variances_added: What is added up is the mean of each list's squares, and should be their sum.
- ((values - values.mean()) ** 2).sum() for
+ np.var(values) for

? weakest_kept: The weakest patterns are kept.
-     root = np.sqrt(S[:rank])
-     return U[:, :rank] * root, Vt[:rank].T * root
+     root = np.sqrt(S[-rank:])
+     return U[:, -rank:] * root, Vt[-rank:].T * root

? zeros_divided: Zeros are divided by zero.
- max(float(np.linalg.norm(x)), 1e-7)
+ float(np.linalg.norm(x))
"""
