"""Weights that others published: reading them, whatever names they use, and writing them back."""
