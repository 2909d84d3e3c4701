// The patches of a batch, as rows that the first matrix product can take: mirrors tinyvit/ops/patches.py (eq. 1).
//
// A patch of P x P pixels with C channels is one row of P P C numbers, in the order (row in the patch, column in the
// patch, channel). A thread makes V neighbouring numbers of a row and writes them at once. The batch itself never
// exists as images: make_patches goes from the bytes of the data set straight to patches (or from those of augment.cu,
// if there are operations to be done).

#include "noise.cuh"
#include "numbers.cuh"
#include "window.cuh"

// A rectangle of pixels of one of `count` images: four rows of a table, top, bottom, left and right. Without a table it
// is empty. Mirrors tinyvit/data/rectangles.py.
struct Rectangle {
    int top = 0, bottom = 0, left = 0, right = 0;

    __device__ Rectangle(const int* table, int count, int b) {
        if (table) top = table[b], bottom = table[count + b], left = table[2 * count + b], right = table[3 * count + b];
    }

    __device__ bool holds(int row, int column) const {
        return top <= row && row < bottom && left <= column && column < right;
    }
};

// One of the chosen images of a data set, seen through its window: bytes 0 to 255 become -1 to 1, and noise takes the
// place of what is erased. Mirrors normalise in tinyvit/data/augment.py, and tinyvit/data/mixing.py.
struct Seen {
    Window window;
    Rectangle erased;
    unsigned key;  // of the noise

    // plan (4, planned): see Window; erasing (5, planned): a rectangle and the key, or null.
    __device__ Seen(const unsigned char* images, const int* plan, const int* erasing, int planned, int b, int height,
                    int width)
        : window(images, plan, planned, b, height, width), erased(erasing, planned, b),
          key(erasing ? erasing[4 * planned + b] : 0) {}

    // What a number is whose byte in the window was this one.
    __device__ float operator()(int byte, int row, int column, int channel) const {
        if (erased.holds(row, column)) return uniform(key, (row * window.width + column) * 3 + channel) * 2 - 1;
        return (byte - 127.5f) / 127.5f;
    }
};

// The patches of a batch of such images. With `mixing` (5, batch), each is mixed with the next one of the plan, which
// has one more then: a rectangle, and the weight of the next image within it, a float. Mirrors tinyvit/data/mixing.py.
//
// Each image is read in single bytes, since a window can begin anywhere; neighbouring threads read neighbouring bytes,
// so that each comes from memory once and then from the cache. All bytes of a thread are under way before it uses the
// first, and so it also reads those that are to be erased. Bytes moved for each image: 3 H W in, twice that if
// images are mixed, and 3 H W numbers of type T out.
template <typename T, int V>
__global__ void __launch_bounds__(256)
make_patches(const unsigned char* images, const int* plan, const int* erasing, const int* mixing, T* patches, int batch,
             int planned, int height, int width, int P) {
    const int row_width = P * P * 3;
    const int vectors = height * width * 3 / V;  // of one image
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= batch * vectors) return;
    const int b = thread / vectors;
    const int start = thread % vectors * V;  // in the patches of the image
    const Seen own(images, plan, erasing, planned, b, height, width);
    const Seen next(images, plan, erasing, planned, mixing ? b + 1 : b, height, width);
    const Rectangle mixed(mixing, batch, b);
    const float weight = mixing ? __int_as_float(mixing[4 * batch + b]) : 0;

    const int patch = start / row_width;
    const int top = patch / (width / P) * P, left = patch % (width / P) * P;
    const int pixel = start % row_width / 3;
    const auto for_each = [&](auto use) {
        int channel = start % 3, p = pixel / P, q = pixel % P;
#pragma unroll
        for (int i = 0; i < V; i++) {
            use(i, top + p, left + q, channel);
            if (++channel == 3) channel = 0, q++;
            if (q == P) q = 0, p++;
        }
    };
    int bytes[V], next_bytes[V];
    for_each([&](int i, int row, int column, int channel) { bytes[i] = own.window(row, column)[channel]; });
    if (mixing)
        for_each([&](int i, int row, int column, int channel) {
            if (mixed.holds(row, column)) next_bytes[i] = next.window(row, column)[channel];
        });
    float numbers[V];
    for_each([&](int i, int row, int column, int channel) {
        numbers[i] = own(bytes[i], row, column, channel);
        if (mixed.holds(row, column))
            numbers[i] = (1 - weight) * numbers[i] + weight * next(next_bytes[i], row, column, channel);
    });
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
