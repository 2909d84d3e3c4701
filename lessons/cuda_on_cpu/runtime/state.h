// What the scheduler knows about the launch that is under way.
#pragma once

#include "../include/tinyvit_cuda/scheduler.h"
#include "../include/tinyvit_cuda/entry.h"

#pragma GCC visibility push(hidden)
namespace tinyvit {

constexpr unsigned MOST_THREADS = 1024;  // of a block
// Of __shared__ arrays whose size is known when compiling, and of all unless the kernel asks for more.
constexpr size_t STATIC_BYTES = 48 * 1024;
constexpr size_t GAP = 64;  // between two of them, to see an index that leaves the first one

struct Group {  // lanes that have arrived at a meeting and wait for the others
    const Meeting* meeting;
    unsigned mask, arrived;
};

struct Warp {
    unsigned existing, returned;  // a bit for each lane
    int group_count;
    Group groups[32];
    void* records[32];  // what each lane brought to its meeting
};

enum class State { RUNS, AT_BARRIER, AT_MEETING, RETURNED };

struct Thread {
    void* stack_pointer;  // nullptr: not started
    char* stack;
    uint3 index;
    unsigned number, lane;
    Warp* warp;
    State state;
    const char* waits_for;
    Place place;
};

// A launch, filled in by Python (module.py has the same fields).
struct Launch {
    const Entry* entry;
    void** arguments;
    unsigned grid[3], block[3];
    size_t shared_bytes, allowed;  // of extern __shared__: in this launch, and at most
    unsigned long long seed;
    char *stacks, *message;
    size_t stack_bytes, message_bytes;
    void* checks;  // for the checked variant
};

extern Launch launch;
extern Thread threads[MOST_THREADS], *current;
extern Warp warps[MOST_THREADS / 32];
extern unsigned thread_count, block_number;
extern unsigned char static_shared[];
extern size_t static_used;
extern bool failed;

void start_threads();  // once for a launch
void run_threads();    // once for a block
unsigned random_number();

[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));
const char* name_of(const Thread& thread);  // "thread (5, 0, 0)"; good until four more names have been asked for

}  // namespace tinyvit
#pragma GCC visibility pop
