// Operations that change colours: mirrors tinyvit/data/operations.py. Some blend an image with a duller version of
// itself; a thread does every blockDim.x-th pixel. Others change each byte without regard to its neighbours.
//
// The block makes a table of 256 bytes for each channel, and then looks up every byte of the image in it. For contrast,
// autocontrast and equalize the image is looked at first: all threads count together, with atomic additions in shared
// memory. They are of whole numbers, so that their order does not matter.

#pragma once

#include "warp.cuh"

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

// Places in KINDS of calls/augment.py.
enum { IDENTITY, MOVE, COLOUR, SHARPNESS, BRIGHTNESS, CONTRAST, POSTERIZE, SOLARIZE, AUTOCONTRAST, EQUALIZE };

constexpr int OPERATION_ROWS = 7;

// The operation on image b in one round: a kind, and six whole numbers for MOVE, a factor or threshold in the bits of a
// float, or how many bits POSTERIZE takes away.
struct Operation {
    int kind, numbers[6];

    // table (7, planned), that of the round.
    __device__ Operation(const int* table, int planned, int b) : kind(table[b]) {
#pragma unroll
        for (int i = 0; i < 6; i++) numbers[i] = table[(i + 1) * planned + b];
    }

    __device__ float factor() const { return __int_as_float(numbers[0]); }
};

struct Tones {
    int counts[3][256];           // how often each byte occurs in a channel
    int brightness;               // the sum over all pixels
    unsigned char table[3][256];  // what becomes of each byte of a channel
};

// How often each byte occurs.
__device__ inline void count_bytes(const unsigned char* image, Tones& tones, int pixels) {
    for (int i = threadIdx.x; i < 3 * 256; i += blockDim.x) tones.counts[i / 256][i % 256] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < 3 * pixels; i += blockDim.x) atomicAdd(&tones.counts[i % 3][image[i]], 1);
    __syncthreads();
}

// The mean brightness of the pixels, to the nearest whole number.
__device__ inline int mean_brightness(const unsigned char* image, Tones& tones, int pixels) {
    if (threadIdx.x == 0) tones.brightness = 0;
    __syncthreads();
    int sum = 0;
    for (int pixel = threadIdx.x; pixel < pixels; pixel += blockDim.x) sum += luminance(image + 3 * pixel);
    for (int distance = WARP / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, distance);
    if (threadIdx.x % WARP == 0) atomicAdd(&tones.brightness, sum);
    __syncthreads();
    return (2 * tones.brightness + pixels) / (2 * pixels);
}

// Stretched so that the darkest byte becomes 0 and the brightest 255; in double, each step rounded as NumPy does.
__device__ inline unsigned char stretch(int value, int darkest, int brightest) {
    if (darkest == brightest) return value;
    const double scale = 255.0 / (brightest - darkest);
    const double stretched = __dadd_rn(__dmul_rn(value, scale), __dmul_rn(-darkest, scale));
    return static_cast<unsigned char>(fmin(fmax(stretched, 0.0), 255.0));
}

// The tables of autocontrast and equalize from the counts: warp c does channel c, each of its lanes 8 bytes.
__device__ inline void spread(int kind, Tones& tones, int pixels) {
    constexpr int EACH = 256 / WARP;
    const int c = threadIdx.x / WARP, first = threadIdx.x % WARP * EACH;
    if (c >= 3) return;
    const int* counts = tones.counts[c];
    int own = 0, darkest = 255, brightest = 0;
    for (int v = first; v < first + EACH; v++) {
        own += counts[v];
        if (counts[v]) darkest = min(darkest, v), brightest = v;
    }
    int below = own;  // of this lane and those before it: after five steps, of all of them
    for (int distance = 1; distance < WARP; distance *= 2) {
        darkest = min(darkest, __shfl_xor_sync(ALL_LANES, darkest, distance));
        brightest = max(brightest, __shfl_xor_sync(ALL_LANES, brightest, distance));
        const int before = __shfl_up_sync(ALL_LANES, below, distance);
        if (first >= distance * EACH) below += before;
    }
    below -= own;

    const int step = (pixels - counts[brightest]) / 255;
    for (int v = first; v < first + EACH; v++) {
        if (kind == AUTOCONTRAST) {
            tones.table[c][v] = stretch(v, darkest, brightest);
        } else {  // a byte becomes its rank, counted in steps of 1/255 of the pixels below the brightest
            tones.table[c][v] = step > 0 ? min((step / 2 + below) / step, 255) : v;
            below += counts[v];
        }
    }
}

// What becomes of a byte in all the other operations, whose tables are the same for the three channels.
__device__ inline unsigned char tone(int value, const Operation& operation, int mean) {
    switch (operation.kind) {
        case BRIGHTNESS: return blend(0, value, operation.factor());
        case CONTRAST: return blend(mean, value, operation.factor());
        case POSTERIZE: return value >> operation.numbers[0] << operation.numbers[0];
        default: return value < operation.factor() ? value : 255 - value;  // SOLARIZE
    }
}

__device__ inline void change_tones(unsigned char* image, const Operation& operation, Tones& tones, int pixels) {
    if (operation.kind == AUTOCONTRAST || operation.kind == EQUALIZE) {
        count_bytes(image, tones, pixels);
        spread(operation.kind, tones, pixels);
    } else {
        const int mean = operation.kind == CONTRAST ? mean_brightness(image, tones, pixels) : 0;
        for (int i = threadIdx.x; i < 3 * 256; i += blockDim.x)
            tones.table[i / 256][i % 256] = tone(i % 256, operation, mean);
    }
    __syncthreads();  // the tables are complete
    for (int i = threadIdx.x; i < 3 * pixels; i += blockDim.x) image[i] = tones.table[i % 3][image[i]];
}
