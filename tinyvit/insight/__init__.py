"""What is seen inside a model with some images: gathered, drawn, and as numbers."""
