"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? channels_together: Mean and variance are those of a whole patch, all channels together.
- patches.mean(axis=2, keepdims=True)
+ patches.mean(axis=(2, 3), keepdims=True)
- (centred * centred).mean(axis=2, keepdims=True)
+ (centred**2).mean(axis=(2, 3), keepdims=True)

? checks_one_hidden_place: trust_put_back looks at the first picture alone.
- np.array([[4, 0, 3], [1, 5, 0]])
+ np.array([[4, 0, 3]]); y = y[:1]

? checks_places_in_order: trust_put_back tries places in sight that stand in order.
- seen = np.array([[4, 0, 3], [1, 5, 0]])
+ seen = np.array([[0, 3, 4], [0, 1, 5]])

? checks_the_gradients_alone: trust_put_back never looks at the values.
- if not np.allclose(z, expected, rtol=0, atol=1e-12)
+ if np.shape(z) != np.shape(expected)

? divided_by_all_patches: The squares of the hidden patches are divided by how many numbers all patches have.
- error.size - seen.size * error[0, 0].size
+ error.size

? divided_by_patches: The sum is divided by the number of hidden patches, and not by that of their numbers.
- error.size - seen.size * error[0, 0].size
+ error.shape[0] * error.shape[1] - seen.size

? eps_outside_the_root: eps is added to the deviation, and not to the variance.
- np.sqrt((centred * centred).mean(axis=2, keepdims=True) + eps)
+ (np.sqrt((centred * centred).mean(axis=2, keepdims=True)) + eps)

? every_patch_counts: The loss is the mean over all patches, those in sight included.
- error.size - seen.size * error[0, 0].size
+ error.size; error = painted - wanted

? gradient_in_float64: The zeros have no dtype of their own, and turn the gradient into float64.
- np.zeros(shape, dy.dtype)
+ np.zeros(shape)

? gradient_towards_the_target: The gradient has the wrong sign.
- return (error * error).sum() / count, error * (2 / count)
+ return (error * error).sum() / count, -error * (2 / count)

? gradient_without_the_two: The factor 2 of the square is forgotten in the gradient.
- return (error * error).sum() / count, error * (2 / count)
+ return (error * error).sum() / count, error / count

? gradients_in_reading_order: The gradients are put back as if the places in sight stood in order.
- dx[np.arange(len(seen))[:, None], seen] = dy
+ dx[np.arange(len(seen))[:, None], np.sort(seen)] = dy

? gradients_in_the_first_places: The gradients are written to the first places, whatever was in sight.
- dx[np.arange(len(seen))[:, None], seen] = dy
+ dx[:, : seen.shape[1]] = dy

? hidden_patch_counted: The hidden patch itself is taken for one that could be in sight.
- / comb(patches - 1, seen)
+ / comb(patches, seen)

? mask_token_added_twice: Tokens in sight are added to the mask token, and do not take its place.
- z[np.arange(len(y))[:, None], seen] = y
+ z[np.arange(len(y))[:, None], seen] += y

? neighbours_drawn_alone: The neighbours are taken to be in sight independently of one another.
- comb(patches - 1 - near, seen) / comb(patches - 1, seen)
+ (1 - seen / (patches - 1)) ** near

? normalised_over_channels: Mean and variance are those of the three channels of a pixel, not of the pixels of
  a channel.
- patches.mean(axis=2, keepdims=True)
+ patches.mean(axis=3, keepdims=True)
- (centred * centred).mean(axis=2, keepdims=True)
+ (centred**2).mean(axis=3, keepdims=True)

? normalised_over_pictures: The variance is that of a whole picture, not that of a patch.
- (centred * centred).mean(axis=2, keepdims=True)
+ (centred * centred).mean(axis=(1, 2), keepdims=True)

? normalised_over_places: The targets are normalised over the places of a picture, not over the pixels of a
  patch.
- (centred * centred).mean(axis=2, keepdims=True)
+ (centred * centred).mean(axis=1, keepdims=True)

? not_normalised: The targets are the pixels as they are.
- error = painted - wanted
+ error = painted - patches

? overwritten_at_wrong_places: Tokens are put back in the order of their places, and not where each was taken.
- z[np.arange(len(y))[:, None], seen] = y
+ z[np.arange(len(y))[:, None], np.sort(seen)] = y

? places_of_all_pictures: The index has no column of pictures: each gradient overwrites those of the other
  pictures.
- dx[np.arange(len(seen))[:, None], seen] = dy
+ dx[:, seen] = dy[:, None] * np.ones((1, len(seen), 1, 1))

? places_of_the_first_picture: The places of the first picture are used for all.
- dx[np.arange(len(seen))[:, None], seen] = dy
+ dx[:, seen[0]] = dy

? position_gradient_averaged: The gradient of the positions is the mean over the pictures.
- return dz[rows, cache], dz[hidden].sum(axis=0), dz.sum(axis=0)
+ return dz[rows, cache], dz[hidden].sum(axis=0), dz.mean(axis=0)

? position_gradient_of_the_hidden: A position gets no gradient from the pictures in which its place is in
  sight.
- return dz[rows, cache], dz[hidden].sum(axis=0), dz.sum(axis=0)
+ return dz[rows, cache], dz[hidden].sum(axis=0), (dz * hidden[:, :, None]).sum(axis=0)

? positions_of_the_hidden: Positions are added to the mask tokens alone.
- return z + positions, seen
+ z += positions; z[np.arange(len(y))[:, None], seen] = y; return z, seen

? those_in_sight_count: The loss is that of the patches in sight.
def painting_loss(painted, patches, seen, eps):
    hidden = np.argsort(
        [[t in row for t in range(painted.shape[1])] for row in seen.tolist()], axis=1, kind="stable"
    )
    return solution.painting_loss(painted, patches, hidden[:, : painted.shape[1] - seen.shape[1]], eps)

? token_gradient_averaged: The gradient of the mask token is the mean over the hidden places, not the sum.
- return dz[rows, cache], dz[hidden].sum(axis=0), dz.sum(axis=0)
+ return dz[rows, cache], dz[hidden].sum(axis=0) / max(1, hidden.sum()), dz.sum(axis=0)

? token_gradient_of_all_places: The mask token gets the gradients of all places, those in sight included.
- return dz[rows, cache], dz[hidden].sum(axis=0), dz.sum(axis=0)
+ return dz[rows, cache], dz.sum(axis=(0, 1)), dz.sum(axis=0)

? token_gradient_of_each_picture: The gradient of the mask token keeps the axis of pictures.
- return dz[rows, cache], dz[hidden].sum(axis=0), dz.sum(axis=0)
+ return dz[rows, cache], (dz * hidden[:, :, None]).sum(axis=1), dz.sum(axis=0)

? token_gradient_of_those_in_sight: The mask token gets the gradients of the places in sight.
- return dz[rows, cache], dz[hidden].sum(axis=0), dz.sum(axis=0)
+ return dz[rows, cache], dz[~hidden].sum(axis=0), dz.sum(axis=0)

? tokens_come_first: The tokens are put into the first places, with mask tokens behind them.
- z[np.arange(len(y))[:, None], seen] = y
+ z[:, : y.shape[1]] = y

? variance_without_the_root: The targets are divided by the variance, and not by its root.
- np.sqrt((centred * centred).mean(axis=2, keepdims=True) + eps)
+ ((centred * centred).mean(axis=2, keepdims=True) + eps)

? without_eps: Nothing is added to the variance, and a patch of one colour is divided by zero.
- .mean(axis=2, keepdims=True) + eps)
+ .mean(axis=2, keepdims=True))

? without_positions: The positions are not added.
- return z + positions, seen
+ return z, seen
"""
