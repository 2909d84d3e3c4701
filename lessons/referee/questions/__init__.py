"""The questions of the diagnosis about a wrong array: each answer is the end of a sentence, or empty."""
