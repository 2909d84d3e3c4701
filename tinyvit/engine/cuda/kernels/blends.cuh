// Blending an image in shared memory with a duller version of itself: mirrors tinyvit/data/augmentation/blends.py.
//
// A thread does every blockDim.x-th pixel.

#pragma once

// dull + factor (value - dull), rounded down to a byte. Left to itself, the compiler would make one fused multiply-add
// of it, which rounds once; NumPy and CuPy round the product and then the sum, and so does this, to the same bits.
__device__ inline unsigned char blend(int dull, int value, float factor) {
    const float result = __fadd_rn(__fmul_rn(factor, value - dull), dull);
    return static_cast<unsigned char>(fminf(fmaxf(result, 0), 255));
}

// How bright a pixel of three bytes is, with the weights of ITU-R 601.
__device__ inline int luminance(const unsigned char* pixel) {
    return (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 32768) >> 16;
}

__device__ inline void change_colour(unsigned char* image, float factor, int pixels) {
    for (int pixel = threadIdx.x; pixel < pixels; pixel += blockDim.x) {
        const int grey = luminance(image + 3 * pixel);
#pragma unroll
        for (int c = 0; c < 3; c++) image[3 * pixel + c] = blend(grey, image[3 * pixel + c], factor);
    }
}

// The dull version is smoothed: the mean over 3 x 3 pixels, of which the one in the middle counts five times. Pixels at
// the edges stay as they are.
__device__ inline void change_sharpness(const unsigned char* image, unsigned char* changed, float factor, int height,
                                        int width) {
    for (int pixel = threadIdx.x; pixel < height * width; pixel += blockDim.x) {
        const int row = pixel / width, column = pixel % width;
        const bool at_edge = row == 0 || row == height - 1 || column == 0 || column == width - 1;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const unsigned char* here = image + 3 * pixel + c;
            int dull = *here;
            if (!at_edge) {
                int total = 4 * dull;
                for (int above = -1; above <= 1; above++) {
                    const unsigned char* middle = here + 3 * above * width;
                    total += middle[-3] + middle[0] + middle[3];
                }
                dull = (2 * total + 13) / 26;  // total / 13, to the nearest whole number
            }
            changed[3 * pixel + c] = blend(dull, *here, factor);
        }
    }
}
