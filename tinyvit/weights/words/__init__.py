"""The text side of CLIP and SigLIP: from words to the space that they share with images."""
