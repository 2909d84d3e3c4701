// Muon's update, but for its matrix products: mirrors tinyvit/optim/muon.py (eq. 1 to 4, and 6).
//
// A launch does all matrices of one shape: blocks in the second direction of the grid are the matrices, and those in
// the first share one (polynomial has one direction only, for its whole stack). Between launches, cuBLAS multiplies.
//
// A matrix (A, B), A <= B, lies in the flat buffer of the parameters as it was trained: it may be a third of a wider
// one, as q, k and v are, and a tall one counts as its transpose. A table says where it begins and how far its rows and
// columns are apart. In the stacks between the launches all matrices are whole, and rows follow one another.

#include "numbers.cuh"
#include "warp.cuh"

// One of the matrices. Its numbers are counted in the order in which they lie in the flat buffer, so that neighbouring
// threads read neighbours there, or in the order of the stack.
struct Matrix {
    int start, per_row, per_column, A, B;

    __device__ Matrix(const int* places, int A, int B)
        : start(places[3 * blockIdx.y]), per_row(places[3 * blockIdx.y + 1]), per_column(places[3 * blockIdx.y + 2]),
          A(A), B(B) {}

    __device__ int in_buffer(int row, int column) const { return start + row * per_row + column * per_column; }
    __device__ size_t in_stack(int row, int column) const {
        return (static_cast<size_t>(blockIdx.y) * A + row) * B + column;
    }
    __device__ bool is_tall() const { return per_column != 1; }
};

// The running mean of the gradient, the direction one step ahead of it, and the decay of the weights; and for each
// block the sum of squares of its directions.
// Bytes moved for each parameter: 24 (w, g, m in; w, m, u out).
__global__ void __launch_bounds__(256)
momentum(float* params, const float* grads, float* m_buffer, float* directions, const float* controls,
         const int* places, float* partials, int A, int B, float mu, float rest, float weight_decay) {
    __shared__ float scratch[256 / WARP];
    const Matrix matrix(places, A, B);
    const float decay = 1 - controls[0] * weight_decay, factor = controls[3];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < A * B; i += gridDim.x * blockDim.x) {
        const int place = matrix.is_tall() ? matrix.in_buffer(i % A, i / A) : matrix.in_buffer(i / B, i % B);
        const float w = params[place], gradient = grads[place], m_before = m_buffer[place];  // all before one is used
        const float g = rest * (factor * gradient);
        const float m = mu * m_before + g;  // eq. 1
        const float u = mu * m + g;         // eq. 2
        m_buffer[place] = m;
        directions[place] = u;
        params[place] = w * decay;          // eq. 3
        sum += u * u;
    }
    sum = block_sum(sum, scratch);
    if (threadIdx.x == 0) partials[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

// Each direction divided by its length, from the flat buffer to the stack x. Every thread adds up the sums of squares,
// one for each block of the matrix: 9 for 192 x 192, 576 for the MLP of B/16.
// Bytes moved for each number: 4 in and sizeof(T) out.
template <typename T>
__global__ void __launch_bounds__(256)
normalise(const float* directions, const int* places, const float* partials, T* x, int A, int B, float least) {
    const Matrix matrix(places, A, B);
    float squares = 0;
    for (int i = 0; i < gridDim.x; i++) squares += partials[blockIdx.y * gridDim.x + i];
    const float length = fmaxf(sqrtf(squares), least);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < A * B; i += gridDim.x * blockDim.x) {
        const int row = i / B, column = i % B;
        store(x + matrix.in_stack(row, column), directions[matrix.in_buffer(row, column)] / length);
    }
}

// a I + b X X^T + c (X X^T)^2, from the stacks (n, A, A) of the products; the result takes the place of the square.
// Bytes moved for each number: 3 sizeof(T).
template <typename T>
__global__ void __launch_bounds__(256)
polynomial(const T* gram, T* square, int A, int count, float a, float b, float c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const bool on_diagonal = i / A % A == i % A;
    store(square + i, (on_diagonal ? a : 0) + b * as_float(gram[i]) + c * as_float(square[i]));
}

// The parameters minus lr times `scale` times the stack x. Bytes moved for each number: 8 and sizeof(T).
template <typename T>
__global__ void __launch_bounds__(256)
move(const T* x, float* params, const float* controls, const int* places, int A, int B, float scale) {
    const Matrix matrix(places, A, B);
    const float rate = controls[0] * scale;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < A * B; i += gridDim.x * blockDim.x) {
        const int row = matrix.is_tall() ? i % A : i / B, column = matrix.is_tall() ? i / A : i % B;
        params[matrix.in_buffer(row, column)] -= rate * as_float(x[matrix.in_stack(row, column)]);  // eq. 4
    }
}
