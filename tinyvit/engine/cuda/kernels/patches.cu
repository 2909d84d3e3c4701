// The patches of a batch, as rows that the first matrix product can take: mirrors tinyvit/ops/patches.py (eq. 1).
//
// A patch of P x P pixels with C channels is one row of P P C numbers, in the order (row in the patch, column in the
// patch, channel). A thread makes V neighbouring numbers of a row and writes them at once. The batch itself never
// exists as images: make_patches goes from the bytes of the data set straight to patches.

#include "numbers.cuh"

// The index, or its mirror image if it is less than 0 or more than size - 1: _reflect in tinyvit/data/augment.py.
__device__ inline int reflect(int index, int size) { return size - 1 - abs(size - 1 - abs(index)); }

// Chosen images of a data set in bytes, each seen through a window moved down and to the right, then mirrored if
// `flip`; bytes 0 to 255 become -1 to 1. Mirrors crop_and_flip and normalise in tinyvit/data/augment.py.
//
// plan (4, batch): index of the image, down, right, flip. Each image is read in single bytes, since a window can begin
// anywhere; neighbouring threads read neighbouring bytes, so that each comes from memory once and then from the cache.
// Bytes moved for each image: 3 H W in, 3 H W numbers of type T out.
template <typename T, int V>
__global__ void __launch_bounds__(256)
make_patches(const unsigned char* images, const int* plan, T* patches, int batch, int height, int width, int P) {
    const int row_width = P * P * 3;
    const int vectors = height * width * 3 / V;  // of one image
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= batch * vectors) return;
    const int b = thread / vectors;
    const int start = thread % vectors * V;  // in the patches of the image
    const unsigned char* image = images + static_cast<size_t>(plan[b]) * height * width * 3;
    const int down = plan[batch + b], right = plan[2 * batch + b], flip = plan[3 * batch + b];

    const int patch = start / row_width;
    const int top = patch / (width / P) * P, left = patch % (width / P) * P;
    const int pixel = start % row_width / 3;
    int channel = start % 3, p = pixel / P, q = pixel % P;

    float numbers[V];
#pragma unroll
    for (int i = 0; i < V; i++) {
        const int column = flip ? width - 1 - left - q : left + q;
        const int y = reflect(top + p + down, height), x = reflect(column + right, width);
        numbers[i] = (image[(y * width + x) * 3 + channel] - 127.5f) / 127.5f;
        if (++channel == 3) channel = 0, q++;
        if (q == P) q = 0, p++;
    }
    store_vector<V>(patches + static_cast<size_t>(b) * vectors * V + start, numbers);
}

// Images (batch, H, W, C) that are normalised already. V divides P C, so that a thread's numbers, which are neighbours
// in the patch, are neighbours in the image too. Bytes moved: 4 in and sizeof(T) out for each number.
template <typename T, int V>
__global__ void __launch_bounds__(256)
patchify(const float* images, T* patches, int batch, int height, int width, int C, int P) {
    const int line = P * C;  // the numbers of one row of pixels of a patch
    const int vectors = height * width * C / V;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= batch * vectors) return;
    const size_t image = static_cast<size_t>(thread / vectors) * vectors * V;
    const int start = thread % vectors * V;

    const int patch = start / (P * line);
    const int top = patch / (width / P) * P, left = patch % (width / P) * P;
    const int y = top + start % (P * line) / line;
    float numbers[V];
    load_vector<V>(images + image + (y * width + left) * C + start % line, numbers);
    store_vector<V>(patches + image + start, numbers);
}
