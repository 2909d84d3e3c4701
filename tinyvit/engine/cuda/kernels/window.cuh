// An image of the data set in bytes, seen through a window moved down and to the right, then mirrored if `flip`.
// Mirrors crop_and_flip in tinyvit/data/augment.py.

#pragma once

// The index, or its mirror image if it is less than 0 or more than size - 1: _reflect in tinyvit/data/augment.py.
__device__ inline int reflect(int index, int size) { return size - 1 - abs(size - 1 - abs(index)); }

struct Window {
    const unsigned char* image;
    int height, width, down, right, flip;

    // The window of image b of a plan (4, planned): index of the image, down, right, flip.
    __device__ Window(const unsigned char* images, const int* plan, int planned, int b, int height, int width)
        : image(images + static_cast<size_t>(plan[b]) * height * width * 3), height(height), width(width),
          down(plan[planned + b]), right(plan[2 * planned + b]), flip(plan[3 * planned + b]) {}

    // The three bytes of a pixel.
    __device__ const unsigned char* operator()(int row, int column) const {
        const int y = reflect(row + down, height), x = reflect((flip ? width - 1 - column : column) + right, width);
        return image + (y * width + x) * 3;
    }
};
