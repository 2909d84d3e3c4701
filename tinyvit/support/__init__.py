"""Tools that are not about Vision Transformers: the terminal, files, ranks, cores, limits, errors."""
