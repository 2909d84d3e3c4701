// What the emulator's scheduler offers to the headers that kernels see. It is compiled on its own (runtime/).
#pragma once

#include "language.h"

#pragma GCC visibility push(hidden)
namespace tinyvit {

struct Place {  // where in the source a thread waits, for messages
    const char* file;
    int line;
};

// What lanes do together when all lanes of a mask have arrived. Each brings one record of its own; `all` has a
// pointer to it for every lane in the mask.
struct Meeting {
    const char* name;
    void (*together)(void* const* all, unsigned mask);
};

void meet(const Meeting& meeting, unsigned mask, void* mine, Place place);  // returns once it has been done
int block_barrier(const char* name, int value, Place place);  // bits 0-15: how many values were not zero; 16: all
int lane();

// A __shared__ array of a kernel. It has an offset that is decided when the first thread of a launch comes by.
struct SharedArray {
    unsigned long long launch;
    unsigned offset;
};
constexpr size_t highest(size_t bits) {  // the largest of some powers of two, given all in one
    size_t power = 1;
    while (bits >>= 1) power *= 2;
    return power;
}
void* shared_array(SharedArray& array, size_t bytes, size_t alignment, const char* name);

constexpr size_t MOST_SHARED = 227 * 1024;  // for one block, on the largest cards
extern unsigned char dynamic_shared[MOST_SHARED];

struct Shuffle {
    unsigned long long value;
    int source;
    bool from_itself;
};
struct Vote {
    unsigned long long value;
    unsigned result;
};
struct Product16x8x16 {
    float* d;
    const unsigned *a, *b;
    const float* c;
};
extern const Meeting SYNC, SHUFFLE, BALLOT, MATCH, ADD_SIGNED, MIN_SIGNED, MAX_SIGNED, MIN_UNSIGNED, MAX_UNSIGNED,
    AND_BITS, OR_BITS, XOR_BITS, MMA_16X8X16_BF16;

unsigned atomic_32(int operation, void* place, unsigned value, unsigned compare);
unsigned long long atomic_64(int operation, void* place, unsigned long long value, unsigned long long compare);
[[noreturn]] void stop(const char* what);  // ends the launch: Python raises LaunchError

}  // namespace tinyvit
#pragma GCC visibility pop

#define TINYVIT_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
