// Queries and keys turned by their positions, after the bias of their product, and their gradients turned back: mirrors
// tinyvit/ops/rotary.py (eq. 1 and 2). A head's K numbers are K/2 points: pairs of neighbours, or numbers i and K/2 + i.

#include "numbers.cuh"
#include "warp.cuh"

constexpr int HEIGHT = 8;

// qkv (rows, 3 H K), in place: q and k of the last tokens of each image, of which it has N, turn by the angles of cos and
// sin (T, K/2), or back; `before` tokens do not. Forward, bias (3 H K,) is added to all of q, k and v first. Backward, it
// is null, v is left alone, and partials (P, 2 H K) has the column sums of what comes out, a row for each of P blocks one
// above the other, which share the rows. A block is 32 threads wide and 8 high, and a thread walks down the rows with V
// points: two vectors of V numbers.
// Bytes moved: qkv in and out, or two thirds of it and the partial sums.
template <typename T, int V, bool PAIRS>
__global__ void __launch_bounds__(WARP * HEIGHT)
rotate(T* qkv, const float* bias, const float* cos, const float* sin, float* partials, int rows, int N, int H, int K,
       int before) {
    __shared__ float shared[HEIGHT][WARP][2 * V];
    const int of_head = K / 2 / V, thread = blockIdx.x * WARP + threadIdx.x;
    const int head = thread / of_head, point = thread % of_head * V;
    const int column = head * K + (PAIRS ? 2 * point : point), apart = PAIRS ? V : K / 2;
    const bool works = head < (bias ? 3 : 2) * H;

    float kept[2 * V] = {};  // the bias, or the sums
    if (bias && works) {
        load_vector<V>(bias + column, kept);
        load_vector<V>(bias + column + apart, kept + V);
    }
    for (int row = blockIdx.y * HEIGHT + threadIdx.y; works && row < rows; row += gridDim.y * HEIGHT) {
        T* place = qkv + static_cast<size_t>(row) * 3 * H * K + column;
        const Fetched<T, V> first = fetch<V>(place), second = fetch<V>(place + apart);
        const int patch = row % N - before;
        float numbers[2 * V], c[V], s[V];
        if (patch >= 0 && head < 2 * H) {
            load_vector<V>(cos + patch * (K / 2) + point, c);
            load_vector<V>(sin + patch * (K / 2) + point, s);
        }
#pragma unroll
        for (int i = 0; i < 2 * V; i++) numbers[i] = (i < V ? first[i] : second[i - V]) + (bias ? kept[i] : 0);
        if (patch >= 0 && head < 2 * H) {
#pragma unroll
            for (int i = 0; i < V; i++) {
                float &x1 = numbers[PAIRS ? 2 * i : i], &x2 = numbers[PAIRS ? 2 * i + 1 : V + i];
                const float sine = bias ? s[i] : -s[i], y1 = x1 * c[i] - x2 * sine;
                x2 = x2 * c[i] + x1 * sine;
                x1 = y1;
            }
        }
#pragma unroll
        for (int i = 0; i < 2 * V; i++) kept[i] += bias ? 0 : numbers[i];
        store_vector<V>(place, numbers);
        store_vector<V>(place + apart, numbers + V);
    }
    if (bias) return;
#pragma unroll
    for (int i = 0; i < 2 * V; i++) shared[threadIdx.y][threadIdx.x][i] = kept[i];
    __syncthreads();
    if (threadIdx.y > 0 || !works) return;
    for (int y = 1; y < HEIGHT; y++)
#pragma unroll
        for (int i = 0; i < 2 * V; i++) kept[i] += shared[y][threadIdx.x][i];
    float* place = partials + static_cast<size_t>(blockIdx.y) * 2 * H * K + column;
    store_vector<V>(place, kept);
    store_vector<V>(place + apart, kept + V);
}
