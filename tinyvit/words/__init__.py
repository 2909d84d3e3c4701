"""The side of texts of a model for images and texts (CLIP, SigLIP): from words to the space of the images."""
