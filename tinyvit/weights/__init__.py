"""Published weights: reading them, whatever names they use, and writing them."""
