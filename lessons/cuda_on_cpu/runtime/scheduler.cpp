// The scheduler: the threads of a block as fibers, each running until it waits, in an order drawn from the seed.
#define TINYVIT_SCHEDULER

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "fibers.h"
#include "state.h"
#include "checks.h"

namespace tinyvit {

Thread threads[MOST_THREADS], *current;
Warp warps[MOST_THREADS / 32];
unsigned thread_count;
bool failed;

static unsigned long long random_state;
static Thread* ready[MOST_THREADS];
static unsigned ready_count, returned_count, arrived_count, free_count;
static char* free_stacks[MOST_THREADS];
static void* outside;  // the stack of whoever called launch
static int barrier_values, barrier_result;
static Thread* first_at_barrier = threads;

unsigned random_number() {
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return static_cast<unsigned>(random_state >> 32);
}

const char* name_of(const Thread& thread) {
    static char names[4][64];
    static unsigned next;
    char* name = names[next++ % 4];
    snprintf(name, 64, "thread (%u, %u, %u)", thread.index.x, thread.index.y, thread.index.z);
    return name;
}

void fail(const char* format, ...) {
    const int start = snprintf(launch.message, launch.message_bytes, "block (%u, %u, %u), %s: ", blockIdx.x, blockIdx.y,
                               blockIdx.z, name_of(*current));
    va_list values;
    va_start(values, format);
    vsnprintf(launch.message + start, launch.message_bytes - start, format, values);
    va_end(values);
    failed = true;
    void* abandoned;
    tinyvit_switch(&abandoned, outside);
    __builtin_unreachable();
}

void stop(const char* what) { fail("%s", what); }

static void run_thread();

static void go_to(Thread* next, void** save) {
    current = next;
    threadIdx = next->index;
    if (!next->stack_pointer) {
        next->stack = free_stacks[--free_count];
        // Stacks begin at different distances from their ends: else all would compete for the same places in the cache.
        const size_t unused = (next->stack - launch.stacks) / launch.stack_bytes % 64 * 256;
        next->stack_pointer = new_fiber(next->stack, launch.stack_bytes - unused, run_thread);
    }
    tinyvit_switch(save, next->stack_pointer);
}

[[noreturn]] static void report_standstill() {
    char text[1500];
    int end = 0;
    unsigned listed = 0, waiting = 0;
    for (unsigned i = 0; i < thread_count; i++) {
        const Thread& thread = threads[i];
        if (thread.state == State::RETURNED) continue;
        waiting++;
        const bool as_before = i > 0 && threads[i - 1].place.line == thread.place.line &&
                               threads[i - 1].state == thread.state;
        if (as_before || listed == 6) continue;
        listed++;
        end += snprintf(text + end, sizeof text - end, "; from %s on at %s, %s:%d", name_of(thread), thread.waits_for,
                        thread.place.file, thread.place.line);
        if (end >= static_cast<int>(sizeof text)) break;
    }
    fail("%u threads wait for each other, and nobody can go on%s. Make all threads of the block reach the same "
         "barrier, and all lanes of a mask the same shuffle", waiting, text);
}

static void wait(State state, const char* name, Place place) {
    Thread* me = current;
    me->state = state, me->waits_for = name, me->place = place;
    if (!ready_count) report_standstill();
    go_to(ready[--ready_count], &me->stack_pointer);
}

static void wake(Thread* thread) {
    thread->state = State::RUNS;
    ready[ready_count++] = thread;
}

// Warps in random order, and in each the lanes in random order; the last one woken runs first.
static void wake_block(const Thread* except) {
    unsigned order[MOST_THREADS / 32];
    const unsigned count = (thread_count + 31) / 32;
    for (unsigned i = 0; i < count; i++) {
        const unsigned place = random_number() % (i + 1);
        order[i] = order[place], order[place] = i;
    }
    for (unsigned i = 0; i < count; i++) {
        const unsigned flip = random_number() & 31;
        for (unsigned lane = 0; lane < 32; lane++) {
            const unsigned number = 32 * order[i] + (lane ^ flip);
            if (number < thread_count && &threads[number] != except) wake(&threads[number]);
        }
    }
}

int lane() { return static_cast<int>(current->lane); }

int block_barrier(const char* name, int value, Place place) {
    if (returned_count) {
        const Thread* gone = threads;
        while (gone->state != State::RETURNED) gone++;
        fail("waits at %s, %s:%d, but %s has returned already. Let all threads of the block reach the barrier: "
             "none may return first, or skip it in a branch", name, place.file, place.line, name_of(*gone));
    }
    const Place& first = first_at_barrier->place;
    if (arrived_count && (first.line != place.line || strcmp(first.file, place.file)))
        fail("waits at %s, %s:%d, while %s of its block waits at another barrier, %s:%d. Take the barrier out of the "
             "branch, so that all threads reach the same one", name, place.file, place.line,
             name_of(*first_at_barrier), first.file, first.line);
    if (!arrived_count) first_at_barrier = current, barrier_values = 0;
    barrier_values += value;
    if (++arrived_count < thread_count) {
        wait(State::AT_BARRIER, name, place);
    } else {
        arrived_count = 0;
        barrier_result = barrier_values | (barrier_values == static_cast<int>(thread_count)) << 16;
        checks::barrier();
        wake_block(current);
    }
    return barrier_result;
}

void meet(const Meeting& meeting, unsigned mask, void* mine, Place place) {
    Thread* me = current;
    Warp& warp = *me->warp;
    const unsigned bit = 1u << me->lane;
    me->waits_for = meeting.name, me->place = place;
    if (!(mask & bit))
        fail("calls %s, %s:%d, with mask 0x%08x, which leaves out its own lane %u. Each lane that calls it must be in "
             "the mask", meeting.name, place.file, place.line, mask, me->lane);
    if (mask & warp.returned)
        fail("calls %s, %s:%d, with mask 0x%08x, but lane %d has returned already. Let all lanes of the mask reach "
             "it: none may return first, or skip it in a branch", meeting.name, place.file, place.line, mask,
             __builtin_ctz(mask & warp.returned));
    int number = 0;
    while (number < warp.group_count && warp.groups[number].mask != mask) number++;
    Group& group = warp.groups[number];
    if (number == warp.group_count) {
        warp.group_count++;
        group = {&meeting, mask, 0};
    }
    if (group.meeting != &meeting)
        fail("calls %s, %s:%d, while lane %d of its mask waits at %s. All lanes of a mask must call the same",
             meeting.name, place.file, place.line, __builtin_ctz(group.arrived), group.meeting->name);
    warp.records[me->lane] = mine;
    group.arrived |= bit;
    const unsigned all = mask & warp.existing;
    if (group.arrived != all) return wait(State::AT_MEETING, meeting.name, place);
    group = warp.groups[--warp.group_count];
    meeting.together(warp.records, all);
    if (&meeting == &SYNC) checks::meeting(all);  // a shuffle orders no memory
    const unsigned flip = random_number() & 31;
    Thread* first = me - me->lane;
    for (unsigned i = 0; i < 32; i++)
        if ((all & ~bit) >> (i ^ flip) & 1) wake(first + (i ^ flip));
}

static void leave() {
    Thread* me = current;
    me->state = State::RETURNED;
    returned_count++;
    if (arrived_count)
        fail("returns, while %s of its block waits at %s, %s:%d. Let all threads of the block reach the barrier: "
             "none may return first, or skip it in a branch", name_of(*first_at_barrier), first_at_barrier->waits_for,
             first_at_barrier->place.file, first_at_barrier->place.line);
    Warp& warp = *me->warp;
    warp.returned |= 1u << me->lane;
    for (int i = 0; i < warp.group_count; i++)
        if (warp.groups[i].mask >> me->lane & 1) {
            const Thread& other = *(me - me->lane + __builtin_ctz(warp.groups[i].arrived));
            fail("returns, while lane %u waits at %s, %s:%d, for a mask that has this thread's lane %u. Let all lanes "
                 "of the mask reach it", other.lane, other.waits_for, other.place.file, other.place.line, me->lane);
        }
}

// The stack of a thread that has returned serves the next one that has not started.
static void run_thread() {
    for (;;) {
        launch.entry->run(launch.arguments);
        leave();
        char* stack = current->stack;
        void* ignored;
        if (!ready_count) {
            if (returned_count < thread_count) report_standstill();
            free_stacks[free_count++] = stack;
            tinyvit_switch(&ignored, outside);
        }
        Thread* next = ready[--ready_count];
        if (next->stack_pointer) {
            free_stacks[free_count++] = stack;
            go_to(next, &ignored);
        }
        current = next;
        threadIdx = next->index;
        next->stack = stack;
        next->stack_pointer = stack;  // any address: it has started
    }
}

void start_threads() {
    random_state = (launch.seed + 1) * 0x9e3779b97f4a7c15ull;
    random_state += !random_state;
    thread_count = blockDim.x * blockDim.y * blockDim.z;
    free_count = thread_count;
    for (unsigned i = 0; i < thread_count; i++) {
        free_stacks[i] = launch.stacks + (thread_count - 1 - i) * launch.stack_bytes;
        threads[i].index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        threads[i].number = i, threads[i].lane = i % 32, threads[i].warp = &warps[i / 32];
    }
}

void run_threads() {
    ready_count = returned_count = arrived_count = 0;
    for (unsigned i = 0; i < thread_count; i++) threads[i].stack_pointer = nullptr;
    for (unsigned i = 0; i < (thread_count + 31) / 32; i++) {
        const unsigned lanes = thread_count - 32 * i;
        warps[i].existing = lanes < 32 ? (1u << lanes) - 1 : 0xffffffff;
        warps[i].returned = 0, warps[i].group_count = 0;
    }
    wake_block(nullptr);
    go_to(ready[--ready_count], &outside);
}

}  // namespace tinyvit
