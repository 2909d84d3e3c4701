// Loops of np.matmul for NumPy in WebAssembly, on any strides, four vectors of SIMD wide: float32 and float64.
//
// They take the place of NumPy's own, which compile to one multiplication at a time (matmul.js puts them there;
// their arguments are those of a loop of a ufunc). A band of C, two rows high and four vectors wide, is summed
// in registers over all k. Before that the columns of B that it needs, whatever their strides, are packed
// into `scratch`, where they lie one row after the other:
//
//     C[m, j:j+W] = sum over k of A[m, k] * B[k, j:j+W]
//
// No data and no stack but scratch, of at least (DEPTH + 2) rows of 64 bytes, aligned to 16: the module shares
// the memory of Python. The vectors are the compiler's own, so the same text is tested on any CPU.
//
// matmul.wasm is made of it by ziglang 0.17.1, from PyPI:
//     python -m ziglang cc -target wasm32-freestanding -O3 -msimd128 -nostdlib -mno-bulk-memory -fno-builtin
//         -Wl,--no-entry -Wl,--import-memory -Wl,--strip-all -o matmul.wasm matmul.c

typedef __INTPTR_TYPE__ intp; // np.intp
enum { DEPTH = 1024 };        // values of k that are packed at once: 64 KB

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name)))
#else
#define EXPORT(name)
#endif

#define LOOP(T)                                                                                        \
  typedef T T##_vector __attribute__((vector_size(16)));                                               \
  enum { T##_wide = 64 / sizeof(T) };                                                                  \
                                                                                                       \
  EXPORT(matmul_##T)                                                                                   \
  void matmul_##T(char **args, const intp *sizes, const intp *steps, void *scratch) {                  \
    const intp M = sizes[1], K = sizes[2], N = sizes[3], W = T##_wide;                                 \
    const intp am = steps[3], ak = steps[4], bk = steps[5], bn = steps[6], cm = steps[7], cn = steps[8];\
    T *packed = scratch, *out = packed + DEPTH * W;                                                    \
    for (intp o = 0; o < sizes[0]; o++) {                                                              \
      char *A = args[0] + o * steps[0], *B = args[1] + o * steps[1], *C = args[2] + o * steps[2];      \
      for (intp j = 0; j < N; j += W) {                                                                \
        const intp columns = N - j < W ? N - j : W;                                                    \
        for (intp from = 0; from < K || from == 0; from += DEPTH) {                                    \
          const intp depth = K - from < DEPTH ? K - from : DEPTH;                                      \
          for (intp k = 0; k < depth; k++)                                                             \
            for (intp n = 0; n < W; n++)                                                               \
              packed[k * W + n] = n < columns ? *(T *)(B + (from + k) * bk + (j + n) * bn) : 0;        \
          for (intp m = 0; m < M; m += 2) {                                                            \
            const intp rows = m + 1 < M ? 2 : 1;                                                       \
            char *a = A + m * am + from * ak, *below = rows == 2 ? a + am : a;                         \
            const T##_vector *b = (const T##_vector *)packed;                                          \
            T##_vector zero = {0}, c0 = zero, c1 = zero, c2 = zero, c3 = zero;                         \
            T##_vector d0 = zero, d1 = zero, d2 = zero, d3 = zero;                                     \
            for (intp k = 0; k < depth; k++, b += 4, a += ak, below += ak) {                           \
              T##_vector x = zero + *(T *)a, y = zero + *(T *)below;                                   \
              c0 += x * b[0], c1 += x * b[1], c2 += x * b[2], c3 += x * b[3];                          \
              d0 += y * b[0], d1 += y * b[1], d2 += y * b[2], d3 += y * b[3];                          \
            }                                                                                          \
            T##_vector *band = (T##_vector *)out;                                                      \
            band[0] = c0, band[1] = c1, band[2] = c2, band[3] = c3;                                    \
            band[4] = d0, band[5] = d1, band[6] = d2, band[7] = d3;                                    \
            for (intp r = 0; r < rows; r++)                                                            \
              for (intp n = 0; n < columns; n++) {                                                     \
                T *c = (T *)(C + (m + r) * cm + (j + n) * cn);                                         \
                *c = (from ? *c : 0) + out[r * W + n];                                                 \
              }                                                                                        \
          }                                                                                            \
        }                                                                                              \
      }                                                                                                \
    }                                                                                                  \
  }

LOOP(float)
LOOP(double)
