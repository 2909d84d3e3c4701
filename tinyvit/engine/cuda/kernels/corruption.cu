// Which patches of an image are corrupted, and what is shown in their place: mirrors draw_corruption in
// tinyvit/ops/corruption.py. tokens.cu then shows it.

#include "noise.cuh"
#include "numbers.cuh"

// Block b does image b. Its T patches are sorted by random numbers, equal ones by their index: places (B, T) is where
// each of them comes, and the first n are chosen (B, n). source (B, T) is the patch that each shows: with a chance of
// `masked`, a chosen one shows none, -1, and with one of `changed` none or another. shows (B, T, T) is the same as a
// matrix, S of eq. 2. Three draws from number `site` on. Bytes moved: what it writes.
template <typename T>
__global__ void __launch_bounds__(256)
draw_corruption(const unsigned* keys, int site, float masked, float changed, int* chosen, int* places, int* source,
                T* shows, int n, int patches) {
    extern __shared__ float drawn[];
    const int image = blockIdx.x;
    const unsigned key = image_key(keys, site, image);
    for (int t = threadIdx.x; t < patches; t += blockDim.x) drawn[t] = uniform(key, t);
    __syncthreads();
    for (int t = threadIdx.x; t < patches; t += blockDim.x) {
        int place = 0, shown = t;
        for (int j = 0; j < patches; j++) place += drawn[j] < drawn[t] || (drawn[j] == drawn[t] && j < t);
        if (place < n) {
            chosen[image * n + place] = t;
            const float fate = uniform(keys, site + 1, image, place);
            if (fate < masked) {
                shown = -1;
            } else if (fate < changed) {
                shown = static_cast<int>(uniform(keys, site + 2, image, place) * (patches - 1));
                shown += shown >= t;  // any but itself
            }
        }
        const size_t row = static_cast<size_t>(image) * patches + t;
        places[row] = place;
        source[row] = shown;
        for (int j = 0; j < patches; j++) store(shows + row * patches + j, j == shown);
    }
}
