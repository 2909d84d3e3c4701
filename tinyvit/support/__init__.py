"""What knows nothing of Vision Transformers: the terminal, files, ranks, cores, limits, errors."""
