// The random numbers of dropout and of stochastic depth: those of tinyvit/ops/noise.py, to the bit.
//
// A number is a hash of (seed, step, which draw, which image, which element of the image). Nothing is stored: a
// thread computes the number of its own element when it needs it, in a dozen integer operations, and the backward
// kernel computes the same number again. So a mask moves no bytes, where a stored one would be written once and
// read once.
//
// `keys` holds pairs of numbers. The first pair is (index in the whole batch of this part's first image, 0). Pair
// number 1 + site belongs to the draw number `site` of the step, and has seed, step and draw mixed into it.

#pragma once

__device__ inline unsigned mix(unsigned x) {  // every bit of x can flip every bit of the result
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

// The key of one image, for all its elements.
__device__ inline unsigned image_key(const unsigned* keys, int site, unsigned image) {
    const unsigned* pair = keys + 2 + 2 * site;
    return mix(mix((keys[0] + image) ^ pair[0]) ^ pair[1]);
}

// A uniform number in [0, 1) for an element of the image that has this key: the upper 24 bits of a hash, over 2^24.
__device__ inline float uniform(unsigned key, unsigned element) {
    return static_cast<float>(mix(mix(element ^ key) + key) >> 8) * (1.0f / 16777216);
}

__device__ inline float uniform(const unsigned* keys, int site, unsigned image, unsigned element) {
    return uniform(image_key(keys, site, image), element);
}

// What one row of a branch is multiplied by: dropout of its numbers, stochastic depth of the whole image, or both
// (tinyvit/ops/dropout.py and drop_path.py, eq. 1). The constructor does what is common to the row. A rate of 0
// means that nothing is drawn; without rates, `keys` can be a null pointer.
struct RowMask {
    float rate;      // of dropout
    float kept;      // the factor of a number that dropout keeps; 0 if the whole image is dropped
    unsigned key;    // of the image
    unsigned start;  // the element that the row begins with, in its image

    // row counts rows of all images, each of which has `tokens` of them; width is how many numbers a row has.
    __device__ RowMask(const unsigned* keys, float dropout_rate, int dropout_site, float path_rate, int path_site,
                       int tokens, int row, int width)
        : rate(dropout_rate), kept(1), key(0), start(0) {
        if (rate == 0 && path_rate == 0) return;  // without the division
        const unsigned image = row / tokens;
        if (rate > 0) {
            key = image_key(keys, dropout_site, image);
            start = static_cast<unsigned>(row % tokens) * width;
            kept = 1 / (1 - rate);
        }
        if (path_rate > 0) kept *= uniform(keys, path_site, image, 0) < path_rate ? 0 : 1 / (1 - path_rate);
    }

    __device__ float operator()(int column) const {
        return rate > 0 && uniform(key, start + column) < rate ? 0 : kept;
    }
};
