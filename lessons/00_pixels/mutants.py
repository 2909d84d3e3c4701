"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? always_float64: The dtype that was asked for is ignored.
def normalise(images, dtype):
    return images / 127.5 - 1.0

? bias_forgotten: The scores are taken without the bias.
def class_scores(images, weight, bias):
    return images.reshape(len(images), -1) @ weight

? bias_left_in_the_weight: The answer to each image is taken for the weight, though the bias is in it too.
def read_templates(scores, shape):
    weight, bias = solution.read_templates(scores, shape)
    return weight + bias, bias

? bias_not_halved: The bias is minus the square of the mean, without the half.
def mean_templates(x, labels, classes):
    weight, bias = solution.mean_templates(x, labels, classes)
    return weight, 2 * bias

? classes_in_the_rows: The weight is returned with a class in each row, (C, D).
def mean_templates(x, labels, classes):
    weight, bias = solution.mean_templates(x, labels, classes)
    return weight.T, bias

? divided_by_all_images: Each class's sum is divided by the number of all images, and not of its own.
- x[labels == c].mean(axis=0)
+ x[labels == c].sum(axis=0) / len(x)

? equal_classes_assumed: The sum of each class is divided by n / C, as if all classes had equally many images.
def mean_templates(x, labels, classes):
    one_hot = (labels[:, None] == np.arange(classes)).astype(x.dtype)
    means = one_hot.T @ x * (classes / len(x))
    return means.T, -(means * means).sum(axis=1) / 2

? no_bias: The mean is taken for the whole answer: a bright template wins too often.
def mean_templates(x, labels, classes):
    weight, bias = solution.mean_templates(x, labels, classes)
    return weight, np.zeros_like(bias)

? one_hot_in_float64: One-hot rows from numpy.eye, which is float64 whatever x is.
def mean_templates(x, labels, classes):
    one_hot = np.eye(classes)[labels]
    means = (one_hot / one_hot.sum(axis=0)).T @ x
    return means.T, -(means * means).sum(axis=1) / 2

? read_by_columns: The rows are taken column of the picture by column, the other way round than the fit took
  them.
- return images.reshape(len(images), -1) @ weight + bias
+ return images.transpose(0, 2, 1, 3).reshape(len(images), -1) @ weight + bias

? scaled_by_the_images: The darkest and the lightest pixel at hand are taken for the ends of the scale.
def normalise(images, dtype):
    low, high = images.min().astype(dtype), images.max().astype(dtype)
    return 2 * (images.astype(dtype) - low) / (high - low) - 1

? subtracted_in_bytes: The middle grey is subtracted while the pixels are still bytes, which wrap around below
  0.
def normalise(images, dtype):
    return (images - np.uint8(128)).astype(dtype) / 127.5

? two_images_a_number: Each number is asked for twice, with a 1 and with a 0.
- scores(np.zeros((1, *shape)))[0]
+ scores(np.zeros((D, *shape)))
- return scores(np.eye(D).reshape(D, *shape)) - bias, bias
+ return scores(np.eye(D).reshape(D, *shape)) - bias, bias[0]

? zero_to_one: Pixels divided by 255: from 0 to 1, not from -1 to 1.
def normalise(images, dtype):
    return images.astype(dtype) / 255
"""
