"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? about_the_common_mean: The spread is taken about the mean of all values, so a difference adds to it.
- centred = np.concatenate([first - first.mean(), second - second.mean()])
+ centred = np.concatenate([first, second]) - np.concatenate([first, second]).mean()

? ahead_from_the_start: A model that is always ahead is said to cross at the first size.
-     if not behind or behind[-1] == len(lead) - 1:
+     if not behind:
+         return float(sizes[0])
+     if behind[-1] == len(lead) - 1:

? an_anecdote_counts: One seed of each is enough for a verdict.
-         return False
-     centred = np.concatenate([first - first.mean(), second - second.mean()])
+         return bool(first[0] != second[0])
+     centred = np.concatenate([first - first.mean(), second - second.mean()])

? backward_for_free: The backward is forgotten: all of the budget goes to forward passes.
- pairs = budget / 3
+ pairs = budget

? class_token_embedded: The class token is embedded like a patch.
- embedding = patches * (3 * patch_size**2) * width
+ embedding = N * (3 * patch_size**2) * width

? class_token_forgotten: The tokens are the patches: the class token is not counted.
- N = patches + 1
+ N = patches

? coefficient_left_as_logarithm: log a is returned for a.
- float(np.exp(y.mean() + b * x.mean()))
+ float(y.mean() + b * x.mean())

? compute_predicted_from_error: The line is fitted the other way round, compute over error.
- b = -(centred @ y) / (centred @ centred)
+ b = -((y - y.mean()) @ (y - y.mean())) / (centred @ y) if abs(centred @ y) > 1e-9 else 0.0

? distrusts_any_alarm: A rule that is wrong in one comparison of twenty is called wrong.
- if sum(decide(list(row[:n]), list(row[n:])) for row in draws) > 0.078 * 600:
+ if sum(decide(list(row[:n]), list(row[n:])) for row in draws) > 0.02 * 600:

? equal_is_ahead: Where both are equal, the second counts as ahead.
- behind = [i for i, value in enumerate(lead) if value <= 0]
+ behind = [i for i, value in enumerate(lead) if value < 0]

? errors_made_equal: The two errors are made equal, not the changes of them.
- n = (alpha * A / (beta * B) * pairs**beta) ** (1 / (alpha + beta))
+ n = (A / B * pairs**beta) ** (1 / (alpha + beta))

? every_result_is_free: The two means are not taken off the number of values.
- freedom = len(first) + len(second) - 2
+ freedom = len(first) + len(second)
- if freedom == 0:
+ if freedom == 2:

? exponent_with_its_sign: b is the slope, which is negative where more compute helps.
- return float(np.exp(y.mean() + b * x.mean())), float(b)
+ return float(np.exp(y.mean() + b * x.mean())), float(-b)

? exponents_swapped: alpha and beta are exchanged.
- (A, alpha), (B, beta) = model, images
+ (A, beta), (B, alpha) = model, images

? first_crossing: The first change of the lead is taken, not the last.
- i = behind[-1]
+ i = next(j for j in behind if j + 1 not in behind)

? grey_patches: A pixel is taken for one number, not three.
- embedding = patches * (3 * patch_size**2) * width
+ embedding = patches * (patch_size**2) * width

? half_and_half: Model and images each get the root of the budget.
- n = (alpha * A / (beta * B) * pairs**beta) ** (1 / (alpha + beta))
+ n = pairs**0.5

? halfway_in_images: The lines are followed over the sizes, not over their logarithms.
- sizes[i] * (sizes[i + 1] / sizes[i]) ** share
+ sizes[i] + (sizes[i + 1] - sizes[i]) * share

? head_reads_every_token: The head is counted for every token.
- return embedding + layers * block + width * classes
+ return embedding + layers * block + N * width * classes

? mean_not_taken_off: The line is made to run through the origin of the logarithms.
- centred = x - x.mean()
+ centred = x

? one_attention_product: The product of q and k is counted, that of the attention and v is not.
- block = N * (4 * width**2 + 2 * width * mlp_width) + 2 * N**2 * width
+ block = N * (4 * width**2 + 2 * width * mlp_width) + N**2 * width

? one_mean_taken_off: Only 1 is taken off the number of values, and there are two means.
- freedom = len(first) + len(second) - 2
+ freedom = len(first) + len(second) - 1
- if freedom == 0:
+ if freedom == 1:

? only_drops: A difference counts only if the first list is better.
- abs(first.mean() - second.mean())
+ (first.mean() - second.mean())

? only_improvements: A difference counts only if the second list is better.
- abs(first.mean() - second.mean())
+ (second.mean() - first.mean())

? output_projection_forgotten: Only q, k and v are counted, not the output projection.
- block = N * (4 * width**2 + 2 * width * mlp_width) + 2 * N**2 * width
+ block = N * (3 * width**2 + 2 * width * mlp_width) + 2 * N**2 * width

? spread_for_standard_error: The spread of single results is taken for that of the means.
- math.sqrt(variance * (1 / len(first) + 1 / len(second)))
+ math.sqrt(variance)

? squares_over_their_number: The sum of squares is divided by the number of values.
- (centred @ centred) / freedom
+ (centred @ centred) / (freedom + 2)

? the_next_size: The first size measured after the crossing is returned.
- float(sizes[i] * (sizes[i + 1] / sizes[i]) ** share)
+ float(sizes[i + 1])

? through_the_ends: The line runs through the first and the last point.
- b = -(centred @ y) / (centred @ centred)
+ b = -(y[-1] - y[0]) / (x[-1] - x[0])

? trusts_equal_numbers: The rule is never tried with lists of different lengths.
- ((2, 2), (3, 3), (2, 9), (9, 2), (6, 6))
+ ((2, 2), (3, 3), (6, 6))

? trusts_many_seeds: The rule is never tried with few seeds.
- ((2, 2), (3, 3), (2, 9), (9, 2), (6, 6))
+ ((9, 9), (6, 6))

? trusts_one_direction: Only a second list that is better is tried.
- (30 * spread, -30 * spread)
+ (-30 * spread,)

? trusts_one_spread: The rule is tried with one spread only, that of an accuracy.
- ((0.6, 0.004), (-3.0, 2.0))
+ ((0.6, 0.004),)

? trusts_silence: A rule that never sees a difference is trusted.
- if sum(found) < 20:
+ if sum(found) < 0:

? two_kinds_of_logarithm: Compute in decades, the error in natural logarithms.
- x, y = np.log(np.asarray(compute, float))
+ x, y = np.log10(np.asarray(compute, float))

? two_whatever_the_seeds: Two standard errors are enough, however few seeds there are.
- LIMITS[min(freedom, 30)] * error
+ 2 * error

? variances_averaged: The two variances are averaged, though one comes from more values.
- variance = (centred @ centred) / freedom
+ variance = np.mean([np.var(each, ddof=1) for each in (first, second) if len(each) > 1])
"""
