// A launch: blocks one after the other, in an order drawn from the seed, and their shared memory.
#define TINYVIT_SCHEDULER

#include <cstring>
#include <pthread.h>
#include <signal.h>

#include "state.h"
#include "checks.h"

extern "C" {
uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
}

namespace tinyvit {

Launch launch;
unsigned block_number;
alignas(128) unsigned char dynamic_shared[MOST_SHARED];
alignas(128) unsigned char static_shared[STATIC_BYTES + 1024 * GAP];
size_t static_used;

static size_t static_bytes;  // as static_used, without the gaps
static unsigned long long launch_number;

// If a kernel asks for more than is usual, all that it asks for counts, as it does for CUDA's driver.
static void check_shared_bytes(const char* name) {
    if (static_bytes > STATIC_BYTES)
        fail("the __shared__ arrays up to %s have %zu bytes, and the compiler allows %zu. Use extern __shared__, "
             "with its size given to the launch", name, static_bytes, STATIC_BYTES);
    const bool asks = launch.allowed > STATIC_BYTES;
    const size_t others = asks ? launch.allowed : launch.shared_bytes, most = asks ? MOST_SHARED : STATIC_BYTES;
    if (static_bytes + others > most)
        fail("the __shared__ arrays up to %s have %zu bytes, and extern __shared__ %zu: a block has at most %zu for "
             "both%s", name, static_bytes, others, most,
             asks ? "" : ", unless max_dynamic_shared_size_bytes asks for more than that");
}

void* shared_array(SharedArray& array, size_t bytes, size_t alignment, const char* name) {
    if (array.launch != launch_number) {
        alignment = alignment < 16 ? 16 : alignment;
        static_bytes = ((static_bytes + alignment - 1) & ~(alignment - 1)) + bytes;
        check_shared_bytes(name);
        array.offset = static_cast<unsigned>((static_used + GAP + alignment - 1) & ~(alignment - 1));
        array.launch = launch_number;
        static_used = array.offset + bytes;
        memset(static_shared + array.offset, 0xff, bytes);
        checks::shared(name, static_shared + array.offset, bytes);
    }
    return static_shared + array.offset;
}

static void run_block() {
    memset(static_shared, 0xff, static_used);  // as float and as bfloat16 it is NaN
    memset(dynamic_shared, 0xff, launch.shared_bytes);
    checks::block();
    run_threads();
}

static void prepare() {
    launch_number++;
    failed = false;
    static_used = static_bytes = 0;
    blockDim = {launch.block[0], launch.block[1], launch.block[2]};
    gridDim = {launch.grid[0], launch.grid[1], launch.grid[2]};
    start_threads();
}

}  // namespace tinyvit

using namespace tinyvit;

// A thread that touches memory it must not, or divides by zero, ends the launch, and not Python.
static pthread_t launching;
static void on_fault(int signal_number, siginfo_t* info, void*) {
    if (!pthread_equal(pthread_self(), launching)) {  // somebody else's fault: the usual end, when it happens again
        signal(signal_number, SIG_DFL);
        return;
    }
#ifdef TINYVIT_CHECKED
    const char* advice = "Look for a size or an index without a value";
#else
    const char* advice = "Run it under checking() to see where";
#endif
    if (signal_number == SIGFPE) fail("divides an integer by zero. Look for a size or a count that can be 0");
    fail("touches memory that it was not given, at address %p, or has more variables than a stack can hold. %s",
         info->si_addr, advice);
}

struct SignalsCaught {
    struct sigaction before[3];
    stack_t stack_before;
    SignalsCaught() {
        static char stack[64 * 1024];
        launching = pthread_self();
        stack_t mine{};
        mine.ss_sp = stack, mine.ss_size = sizeof stack;
        sigaltstack(&mine, &stack_before);
        struct sigaction action{};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;  // it never returns
        sigaction(SIGSEGV, &action, &before[0]);
        sigaction(SIGBUS, &action, &before[1]);
        sigaction(SIGFPE, &action, &before[2]);
    }
    ~SignalsCaught() {
        sigaction(SIGSEGV, &before[0], nullptr);
        sigaction(SIGBUS, &before[1], nullptr);
        sigaction(SIGFPE, &before[2], nullptr);
        sigaltstack(&stack_before, nullptr);
    }
};

// What assert() calls when its condition is false: here instead of in the C library, which would end Python.
extern "C" [[noreturn]] void __assert_fail(const char* condition, const char* file, unsigned line, const char*) noexcept {
    const char* name = strrchr(file, '/');
    fail("finds that assert(%s) does not hold, %s:%u", condition, name ? name + 1 : file, line);
}

extern "C" __attribute__((visibility("default"))) int tinyvit_launch(const Launch* wanted) {
    launch = *wanted;
    prepare();
    checks::launch();
    SignalsCaught signals;
    const unsigned long long blocks = 1ull * gridDim.x * gridDim.y * gridDim.z;
    // Block i is the one at first + i * stride: all of them once, since no factor is shared with their number.
    unsigned long long stride = random_number() % blocks, a, b;
    do {
        stride++;
        for (a = stride, b = blocks; b;) a %= b, a ^= b, b ^= a, a ^= b;
    } while (a != 1);
    unsigned long long number = random_number() % blocks;
    for (unsigned long long i = 0; i < blocks && !failed; i++, number = (number + stride) % blocks) {
        block_number = static_cast<unsigned>(number);
        blockIdx = {static_cast<unsigned>(number % gridDim.x), static_cast<unsigned>(number / gridDim.x % gridDim.y),
                    static_cast<unsigned>(number / gridDim.x / gridDim.y)};
        run_block();
    }
    checks::end();
    return failed;
}
