"""Numbers out of a model and the pictures of them."""
