"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? channels_not_exchanged: The kernel is turned, but its channels are left as they are where they fit.
- flipped = kernel[::-1, ::-1].swapaxes(2, 3)
+ flipped = kernel[::-1, ::-1]

? images_after_a_relu: The images have no negative numbers, as after a ReLU, and nobody is exposed.
- return "all at once", -np.random.default_rng(0).uniform(1, 2, size=(1, 4, 5, 2))
+ return "all at once", np.random.default_rng(0).uniform(1, 2, size=(1, 4, 5, 2))

? kernel_not_turned: The channels of the kernel are exchanged, but its pixels are left in their order.
- flipped = kernel[::-1, ::-1].swapaxes(2, 3)
+ flipped = kernel.swapaxes(2, 3)

? padded_as_the_forward: dy is padded above as the image was, which is right for odd kernels only.
- sides = (k - 1 - above, above)
+ sides = (above, k - 1 - above)

@ tinyvit/ops/convolution.py

? cache_in_a_global: What the backward needs is kept in a global, so a second forward overwrites it.
-     return y.reshape(*X.shape[:3], -1), (x, kernel, cut, padding)
+     globals()['kept'] = x, kernel, cut, padding
+     return y.reshape(*X.shape[:3], -1), None
- x, kernel, cut, padding = cache
+ x, kernel, cut, padding = kept

? kernel_flipped: The kernel is turned upside down and left to right, as mathematicians do in a convolution.
- y = X.reshape(-1, len(matrix)) @ matrix
+ y = X[:, :, :, ::-1, ::-1].reshape(-1, len(matrix)) @ matrix
- dmatrix = X.reshape(-1, len(matrix)).T @ dy_rows
+ dmatrix = X[:, :, :, ::-1, ::-1].reshape(-1, len(matrix)).T @ dy_rows
- (dy_rows @ matrix.T).reshape(X.shape)
+ (dy_rows @ matrix.T).reshape(X.shape)[:, :, :, ::-1, ::-1]

? kernel_gradient_averaged: The gradient of the kernel is a mean over all windows.
- dmatrix = X.reshape(-1, len(matrix)).T @ dy_rows
+ dmatrix = X.reshape(-1, len(matrix)).T @ dy_rows / len(dy_rows)

? kernel_gradient_reshaped: The gradient of the kernel is computed with O rows, and reshaped as if it had O
  columns.
- dmatrix = X.reshape(-1, len(matrix)).T @ dy_rows
+ dmatrix = dy_rows.T @ X.reshape(-1, len(matrix))

? kernel_reshaped_not_transposed: The kernel's matrix is reshaped to the shape of its transpose.
- dX = (dy_rows @ matrix.T).reshape(X.shape)
+ dX = (dy_rows @ matrix.reshape(matrix.shape[::-1])).reshape(X.shape)

? windows_kept_and_overwritten: The windows are kept in the cache, and the backward writes their gradient over
  them.
- (x, kernel, cut, padding)
+ (X, kernel, cut, padding)
- x, kernel, cut, padding = cache
+ X, kernel, cut, padding = cache
-     X, _ = windows(x, k, stride, padding)  # (B, h, w, k, k, I)
-     matrix = kernel.reshape(-1, kernel.shape[-1])
+     matrix = kernel.reshape(-1, kernel.shape[-1])
-     dX = (dy_rows @ matrix.T).reshape(X.shape)
+     X[...] = (dy_rows @ matrix.T).reshape(X.shape)
+     dX = X

@ tinyvit/ops/windows.py

? cropped_from_the_corner: The padding is cut off below and to the right only.
- return padded[:, top : top + H, left : left + W]
+ return padded[:, :H, :W].copy()

? extra_row_above: SAME puts the odd row of padding above the image, and the odd column to its left.
- return count, added // 2, added - added // 2
+ return count, added - added // 2, added // 2

? fill_ignored: What lies outside the image is zero, whatever the fill.
- padded = xp.full((B, top + H + bottom, left + W + right, C), fill, dtype=x.dtype)
+ padded = xp.full((B, top + H + bottom, left + W + right, C), 0, dtype=x.dtype)

? last_window_wins: The gradients of a pixel's copies are written over each other, and not added.
- padded[:, steps(p, h, stride), steps(q, w, stride)] += dy[:, :, :, p, q]
+ padded[:, steps(p, h, stride), steps(q, w, stride)] = dy[:, :, :, p, q]

? padded_as_for_stride_one: The padding above and to the left is (k - 1) / 2 whatever the stride, as with
  PyTorch's padding=1.
- return count, added // 2, added - added // 2
+ return count, (size - 1) // 2, added

? padding_without_fit: A VALID window that does not fit gives no windows, and no error.
- if length < size:
+ if length < size - 1:

? uncovered_rows_lost: Rows that no VALID window has reached are missing in the gradient.
- return padded[:, top : top + H, left : left + W]
+ return padded[:, top : min(top + H, (h - 1) * stride + size), left : left + W]

? zeros_of_float64: The gradient of the images is gathered in zeros of float64.
- padded = array_module(dy).zeros((B, top + H + bottom, left + W + right, C), dtype=dy.dtype)
+ padded = array_module(dy).zeros((B, top + H + bottom, left + W + right, C))
"""
