// Shearing, moving and rotating an image in shared memory: mirrors tinyvit/data/augmentation/geometry.py.

#pragma once

constexpr unsigned char GREY = 128;
constexpr int BITS = 16;  // after the point: positions are whole numbers, of which 65536 make a pixel

// The image as it is after being moved. numbers are what x and y grow by from column to column, from row to row, and
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
