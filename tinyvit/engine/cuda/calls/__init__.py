"""The calls of the kernels: the launch of each for given buffers, one file for each file of kernels."""
