"""The largest numbers that flags, settings and models may have: beyond all use, but safe to compute with."""

LARGEST = 2**31 - 1  # a count or a size
LARGEST_SEED = 2**64 - 1
MOST_LAYERS = 10_000  # of blocks, or units of a ResNet
MOST_EPOCHS = 20_000  # of a run: the records of all must fit into files.reading.LARGEST_TEXT
MOST_PIXELS = 16_384  # on a side of an image: data.geometry counts 65,536ths of one in 32 bits
MOST_THREADS = 256
