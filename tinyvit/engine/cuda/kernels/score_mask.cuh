// Dropout of attention's probabilities: what number (i, j) of one head's A (Q, N) is multiplied by, in both kernels.

#pragma once
#include "noise.cuh"

struct ScoreMask {
    float rate;         // 0: nothing is drawn, and keys may be a null pointer
    float kept;         // the factor of what is not dropped
    unsigned key;       // of the image
    unsigned start, N;  // the number in its image that A begins with; numbers in a row

    __device__ ScoreMask(const unsigned* keys, float rate, int site, int image, int head, int Q, int N)
        : rate(rate),
          kept(1 / (1 - rate)),
          key(rate > 0 ? image_key(keys, site, image) : 0),
          start(head * Q * N),
          N(N) {}

    __device__ float operator()(int i, int j) const {
        if (rate == 0) return 1;
        return uniform(key, start + i * N + j) < rate ? 0 : kept;
    }
};
