"""Lesson 28: kernels. Write the CUDA C between the braces, then run: pytest lessons/28_kernels

Each function returns the text of one kernel. Remove the line with NotImplementedError when you begin. Arrays
are stored row by row: the number in row i and column j of x (rows, D) is x[i * D + j].
"""

import numpy as np  # noqa: F401 - for guilty_kernel


def bias_gelu_kernel():
    """y = gelu(x + bias), the tanh form of lesson 4, one thread for each number.

    x and y (rows, D), bias (D,). Launched with blocks of any number of threads, and with as many blocks as it
    takes to have a thread for each number.
    """
    raise NotImplementedError("write bias_gelu_kernel: which number is this thread's, and is there one?")
    return r"""
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int rows, int D) {

}
"""


def row_sums_kernel():
    """sums (rows,), the sum of each row of x (rows, D), one warp for each row.

    Launched with blocks of 32, 64 or 128 threads, which is one, two or four rows, and with enough blocks for
    all rows. Each lane adds up columns 32 apart; shuffles add up the lanes.
    """
    raise NotImplementedError("write row_sums_kernel: which row is this warp's, which columns this lane's?")
    return r"""
extern "C" __global__ void row_sums(const float* x, float* sums, int rows, int D) {

}
"""


def column_sums_kernel():
    """sums (D,), the sum of each column of x (rows, D), one block of (32, 8) threads for 32 columns.

    Thread (threadIdx.x, threadIdx.y) = (a, b) of block k adds up the rows b, b + 8, b + 16, ... of column
    32 k + a. Then the eight sums of each column are added up, through shared memory.
    """
    raise NotImplementedError("write column_sums_kernel: a sum for each thread, a barrier, then the columns")
    return r"""
extern "C" __global__ void column_sums(const float* x, float* sums, int rows, int D) {

}
"""


def layer_norm_kernel():
    """y (rows, D) = LayerNorm of x (rows, D), and mean and r (rows,) for the backward; one warp for each row.

    r is 1 / sqrt(variance + eps), weight and bias are (D,). D is at most 256. Each number of x is read from
    memory once. Launched as row_sums is. You may call warp_sum(value): it adds up the values of the 32 lanes
    of a warp, and returns the sum to all of them.
    """
    raise NotImplementedError("write layer_norm_kernel: the row into registers, then mean, then r, then y")
    return r"""
extern "C" __global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y,
                                      float* mean, float* r, int rows, int D, float eps) {

}
"""


def guilty_kernel():
    """The name of the kernel in suspects.py that is wrong, and inputs of LayerNorm on which it shows.

    Return (name, (x, weight, bias)), with x (rows, D), weight (D,) and bias (D,) in float64.
    """
    raise NotImplementedError("return the name of a suspect, and inputs on which its dx is wrong")


# The puzzle: a loss and its gradient in one kernel that reads its input as seldom as possible.


def cross_entropy_kernel():
    """losses (rows,) and dlogits, the gradient of their mean, from logits (rows, classes) and labels (rows,).

    One warp for each row, launched as row_sums is. The logits may be in the thousands. Each logit is read at
    most twice, the one of the right class once more.
    """
    raise NotImplementedError("write cross_entropy_kernel: what to add up before the largest is known?")
    return r"""
extern "C" __global__ void cross_entropy(const float* logits, const int* labels, float* losses,
                                         float* dlogits, int rows, int classes) {

}
"""
