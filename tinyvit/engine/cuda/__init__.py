"""The CUDA engine: a training step as a list of kernels and products, planned once, launched as one graph."""
