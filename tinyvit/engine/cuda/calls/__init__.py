"""How each kernel is called: its launch for given buffers, one file for each file of kernels."""
