"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? all_rows_as_one_vector: The part along y is that of all rows together, as if they were one long vector.
- (dy * y).sum(axis=-1, keepdims=True)
+ (dy * y).sum()

? bias_before_the_scale: The bias is added to the cosines before they are multiplied by the scale.
- S = cosines + bias
+ S = cosines + scale * bias
- (dS * cosines).sum(), dS.sum())
+ (dS * S).sum(), scale * dS.sum())

? bias_in_the_gradient_of_the_scale: The gradient of log_scale takes in the bias, which the scale does not
  multiply.
- return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * cosines).sum(), dS.sum())
+ return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * S).sum(), dS.sum())

? both_directions_added: The two directions are added, and not averaged.
- loss = (of_images + of_texts) / 2
+ loss = of_images + of_texts
- (cross_entropy_backward(rows) + cross_entropy_backward(columns).T) / 2
+ cross_entropy_backward(rows) + cross_entropy_backward(columns).T

? cached_unit_vectors_overwritten: The backward multiplies the cached unit vectors in place.
-     return (dy - y * (dy * y).sum(axis=-1, keepdims=True)) / length
+     along = (dy * y).sum(axis=-1, keepdims=True)
+     y *= along
+     return (dy - y) / length

? columns_not_turned_back: The gradient of the texts' choice is added without transposing it back.
- cross_entropy_backward(columns).T
+ cross_entropy_backward(columns)

? divided_by_all_pairs: The loss of the sigmoids is the mean over all B x B pairs, and should be a sum divided
  by B.
- loss = np.logaddexp(0, np.where(same, -S, S)).sum() / B
+ loss = np.logaddexp(0, np.where(same, -S, S)).sum() / B**2
- dS = ((1 + np.tanh(S / 2)) / 2 - same) / B
+ dS = ((1 + np.tanh(S / 2)) / 2 - same) / B**2

? divided_by_the_temperature: The cosines are divided by the scale, as if it were the temperature.
def softmax_pairs(images, texts, log_scale):
    scale, right = np.exp(-log_scale), np.arange(len(images))
    S = scale * (images @ texts.T)
    of_images, rows = cross_entropy(S, right)
    of_texts, columns = cross_entropy(S.T, right)
    dS = (cross_entropy_backward(rows) + cross_entropy_backward(columns).T) / 2
    return (of_images + of_texts) / 2, (scale * (dS @ texts), scale * (dS.T @ images), -(dS * S).sum())

? every_caption_counts_once: Every different caption counts once, however often it comes.
- return float(np.mean([np.log(twins[caption]) for caption in captions]))
+ return float(np.mean([np.log(twins[caption]) for caption in twins]))

? exponentials_overflow: The exponentials of the scores are taken as they are.
def softmax_pairs(images, texts, log_scale):
    scale, B = np.exp(log_scale), len(images)
    S = scale * (images @ texts.T)
    e = np.exp(S)
    P, Q = e / e.sum(axis=1, keepdims=True), e / e.sum(axis=0)
    loss = -(np.log(np.diagonal(P)) + np.log(np.diagonal(Q))).mean() / 2
    dS = ((P + Q) / 2 - np.eye(B, dtype=S.dtype)) / B
    return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * S).sum())

? gradient_of_the_scale_itself: The last gradient is that of the scale, not that of its logarithm.
- (dS * S).sum())  # eq. 6, 7, 8
+ (dS * S).sum() / scale)  # eq. 6, 7, 8

? in_bits: The lowest loss is in bits: the logarithm has base 2.
- return float(np.mean([np.log(twins[caption]) for caption in captions]))
+ return float(np.mean([np.log2(twins[caption]) for caption in captions]))

? length_forgotten: The gradient of the unit vectors is not divided by the length.
- return (dy - y * (dy * y).sum(axis=-1, keepdims=True)) / length  # eq. 2
+ return (dy - y * (dy * y).sum(axis=-1, keepdims=True))  # eq. 2
- return (dy - y * (dy * y).sum(axis=-1, keepdims=True))
+ return dy - y * (dy * y).sum(axis=-1, keepdims=True)

? length_taken_for_a_constant: The length is taken for a constant: the part of dy along y is left in.
- (dy - y * (dy * y).sum(axis=-1, keepdims=True)) / length
+ dy / length

? logarithm_overflows: log(1 + exp(z)) is taken as it stands, and exp(z) overflows.
- np.logaddexp(0, np.where(same, -S, S))
+ np.log(1 + np.exp(np.where(same, -S, S)))

? mean_along_the_row: The part along y is a mean over the row, and should be a sum.
- (dy * y).sum(axis=-1, keepdims=True)
+ (dy * y).mean(axis=-1, keepdims=True)

? one_direction_alone: Only one of the two directions is thought to suffer from twins: half the loss.
- return float(np.mean([np.log(twins[caption]) for caption in captions]))
+ return 0.5 * float(np.mean([np.log(twins[caption]) for caption in captions]))

? part_along_y_added: The part of dy along y is added, and should be taken off.
- return (dy - y * (dy * y).sum(axis=-1, keepdims=True)) / length
+ return (dy + y * (dy * y).sum(axis=-1, keepdims=True)) / length

? right_pairs_alone: The loss of the sigmoids asks about the right pairs alone.
- np.where(same, -S, S)).sum()
+ -S)[same].sum()
- ((1 + np.tanh(S / 2)) / 2 - same) / B
+ same * ((1 + np.tanh(S / 2)) / 2 - 1) / B

? scale_forgotten_in_the_gradients: The gradients of the vectors are those of the scores times the other
  vectors, without the scale.
- return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * S).sum())  # eq. 6, 7, 8
+ return loss, (dS @ texts, dS.T @ images, (dS * S).sum())

? scale_is_its_own_logarithm: The cosines are multiplied by log_scale itself: the exponential is missing.
def softmax_pairs(images, texts, log_scale):
    scale, right = log_scale, np.arange(len(images))
    S = scale * (images @ texts.T)
    of_images, rows = cross_entropy(S, right)
    of_texts, columns = cross_entropy(S.T, right)
    dS = (cross_entropy_backward(rows) + cross_entropy_backward(columns).T) / 2
    return (of_images + of_texts) / 2, (
        scale * (dS @ texts),
        scale * (dS.T @ images),
        (dS * (images @ texts.T)).sum(),
    )

? signs_of_the_pairs_exchanged: The right pairs are pushed apart and the wrong ones together: the sign is the
  other one.
- loss = np.logaddexp(0, np.where(same, -S, S)).sum() / B
+ loss = np.logaddexp(0, np.where(same, S, -S)).sum() / B
- dS = ((1 + np.tanh(S / 2)) / 2 - same) / B
+ dS = ((1 + np.tanh(S / 2)) / 2 - ~same) / B

? targets_in_float64: The targets are made with np.ones, in float64, and so is every gradient.
- dS = ((1 + np.tanh(S / 2)) / 2 - same) / B
+ dS = ((1 + np.tanh(S / 2)) / 2 - np.ones((B, B)) * same) / B

? texts_before_images: The rows of same are taken for texts and its columns for images.
-     S = cosines + bias
+     same = same.T
+     S = cosines + bias

? texts_do_not_choose: Only the images choose among the texts: the other direction is missing.
- loss = (of_images + of_texts) / 2
+ loss = of_images
- (cross_entropy_backward(rows) + cross_entropy_backward(columns).T) / 2
+ cross_entropy_backward(rows)

? texts_take_the_rows: dtexts takes dS as it is: the rows of the images instead of the columns of the texts.
- return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * S).sum())  # eq. 6, 7, 8
+ return loss, (scale * (dS @ texts), scale * (dS @ images), (dS * S).sum())  # eq. 6, 7, 8

? twins_called_wrong: Only the diagonal counts as right: a text that is the same is called wrong.
-     S = cosines + bias
+     same = np.eye(B, dtype=bool)
+     S = cosines + bias

? twins_can_be_certain: Twins are no hindrance: the lowest loss is always zero.
- float(np.mean([np.log(twins[caption]) for caption in captions]))
+ 0.0 * len(twins)
"""
