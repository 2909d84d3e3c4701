"""What visualize shows: images to look at, and what is seen in them, as pictures and as numbers."""
