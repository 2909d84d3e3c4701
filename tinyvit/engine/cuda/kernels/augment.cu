// The images of a batch after RandAugment's or AutoAugment's operations: mirrors tinyvit/data/augment.py.
//
// Array operations do this by choosing, in each round and for each kind of operation, the images that it is for: some
// hundred launches for a batch. Here a block takes one image, and it fits into the block's shared memory with all that
// is done to it: bytes that all threads of the block can read and write in a few dozen cycles. The block fetches the
// image through its window, carries out one operation after another, and writes the result. All threads of a block are
// in the same operation, so none of the branches below parts them. Different blocks do different things at once.
//
// Every result equals that of tinyvit/data/augment.py to the bit, which also says what each operation does.

#include "tones.cuh"
#include "window.cuh"

constexpr unsigned char GREY = 128;
constexpr int BITS = 16;  // after the point: positions are whole numbers, of which 65536 make a pixel

// An image in shared memory as it is after being sheared, moved or rotated: mirrors
// tinyvit/data/operations.py. numbers are what x and y grow by from column to column, from row to row, and
// what they are at the first pixel (eq. 1). A thread looks up every blockDim.x-th pixel.
__device__ inline void move(const unsigned char* image, unsigned char* moved, const int* numbers, int height,
                            int width) {
    for (int pixel = threadIdx.x; pixel < height * width; pixel += blockDim.x) {
        const int row = pixel / width, column = pixel % width;
        const int x = (numbers[0] * column + numbers[2] * row + numbers[4]) >> BITS;
        const int y = (numbers[1] * column + numbers[3] * row + numbers[5]) >> BITS;
        const bool inside = 0 <= x && x < width && 0 <= y && y < height;
#pragma unroll
        for (int c = 0; c < 3; c++) moved[3 * pixel + c] = inside ? image[3 * (y * width + x) + c] : GREY;
    }
}

// Shared memory, which calls/augment.py counts too: the tables, the image, and room for what is made from neighbours.
static_assert(sizeof(Tones) == 3844, "expected TONES_BYTES of calls/augment.py");

// images (n, height, width, 3) is the data set, plan (4, S) as in patches.cu, operations (rounds, 7, S), and augmented
// (S, height, width, 3); block b does image b of the plan, and S is the number of blocks.
// Bytes moved for each image: 3 H W in, 3 H W out, 16 of the plan, and 28 for each operation.
__global__ void __launch_bounds__(512)
augment(const unsigned char* images, const int* plan, const int* operations, unsigned char* augmented, int rounds,
        int height, int width) {
    extern __shared__ __align__(16) unsigned char shared[];
    const int pixels = height * width, planned = gridDim.x, b = blockIdx.x;
    Tones& tones = *reinterpret_cast<Tones*>(shared);
    unsigned char* image = shared + sizeof(Tones);
    unsigned char* other = image + 3 * pixels;

    const Window window(images, plan, planned, b, height, width);
    for (int pixel = threadIdx.x; pixel < pixels; pixel += blockDim.x) {
        const unsigned char* seen = window(pixel / width, pixel % width);
#pragma unroll
        for (int c = 0; c < 3; c++) image[3 * pixel + c] = seen[c];
    }
    for (int round = 0; round < rounds; round++) {
        __syncthreads();  // all have written what is read next, and no thread still reads what is written next
        const Operation operation(operations + round * OPERATION_ROWS * planned, planned, b);
        if (operation.kind == MOVE || operation.kind == SHARPNESS) {
            if (operation.kind == MOVE) {
                move(image, other, operation.numbers, height, width);
            } else {
                change_sharpness(image, other, operation.factor(), height, width);
            }
            unsigned char* changed = other;
            other = image, image = changed;
        } else if (operation.kind == COLOUR) {
            change_colour(image, operation.factor(), pixels);
        } else if (operation.kind != IDENTITY) {
            change_tones(image, operation, tones, pixels);
        }
    }
    __syncthreads();
    unsigned char* result = augmented + static_cast<size_t>(b) * pixels * 3;
    for (int i = threadIdx.x; i < 3 * pixels; i += blockDim.x) result[i] = image[i];
}
