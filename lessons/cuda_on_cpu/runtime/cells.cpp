// The clocks of the threads, and the search for races: see cells.h.
#define TINYVIT_SCHEDULER

#include <cstdio>
#include <cstring>

#include "cells.h"

namespace tinyvit::checks {

static unsigned short seen[MOST_THREADS][32];  // how far each thread has seen the clocks of its warp's lanes
static unsigned epoch;                         // barriers that this block has passed

static void start_clocks() {
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < thread_count; i++) seen[i][i % 32] = 1;
}

void block() {
    epoch = 0;
    start_clocks();
}

void barrier() {
    if (++epoch == 0xffff) fail("passes more than 65,534 barriers: too many to be checked");
    start_clocks();
}

void meeting(unsigned lanes) {
    auto first = &seen[current->number - current->lane];
    unsigned short latest[32] = {};
    for (unsigned rest = lanes; rest; rest &= rest - 1)
        for (int i = 0; i < 32; i++) {
            const unsigned short clock = first[__builtin_ctz(rest)][i];
            latest[i] = clock > latest[i] ? clock : latest[i];
        }
    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        memcpy(first[lane], latest, sizeof latest);
        if (++first[lane][lane] == 0xffff)
            fail("passes more than 65,533 __syncwarp between two barriers: too many to be checked");
    }
}

Stamp stamp_now(bool is_atomic) {
    return Stamp(is_atomic) << 63 | Stamp(block_number + 1) << 42 | Stamp(current->number) << 32 | Stamp(epoch) << 16 |
           seen[current->number][current->lane];
}
static bool is_atomic(Stamp stamp) { return stamp >> 63; }
static unsigned thread_of(Stamp stamp) { return stamp >> 32 & 1023; }

static bool in_order(Stamp before) {
    if (!before) return true;
    if (block_of(before) != block_number) return false;
    const unsigned thread = thread_of(before);
    if (thread == current->number || (before >> 16 & 0xffff) != epoch) return true;
    return thread / 32 == current->number / 32 && seen[current->number][thread % 32] >= (before & 0xffff);
}

[[noreturn]] static void report_race(const Access& access, const Place& touched, Stamp other, const char* before,
                                     Code code_before) {
    char place[200];
    if (touched.name)
        snprintf(place, sizeof place, "byte %zu of %s in shared memory", touched.number, touched.name);
    else
        snprintf(place, sizeof place, "number %zu of argument %d", touched.number, touched.argument);
    const char* who = name_of(threads[thread_of(other)]);
    if (block_of(other) != block_number)
        fail("%s %s ({%u}), which %s of another block, number %u, %s too ({%u}). Blocks run in any "
             "order, or side by side: let each write a place of its own", access.verb(), place, access.code, who,
             block_of(other), before, code_before);
    fail("%s %s ({%u}), which %s of the same block %s ({%u}), with no barrier between them. Put "
         "__syncthreads() between the two, or __syncwarp() if both are in one warp", access.verb(), place, access.code,
         who, before, code_before);
}

void touch(Cell& cell, const Access& access, Stamp now, const Place& place) {
    if (!in_order(cell.write) && !(access.is_atomic && is_atomic(cell.write)))
        report_race(access, place, cell.write, is_atomic(cell.write) ? "changes atomically" : "writes",
                    cell.write_code);
    if (access.write) {
        for (int i = 0; i < 2; i++)
            if (!in_order(cell.reads[i])) report_race(access, place, cell.reads[i], "reads", cell.read_codes[i]);
        cell.write = now, cell.write_code = access.code;
        return;
    }
    // Keep two reads by two threads, of two warps if possible: no writer can then be in order with both by chance.
    // A read that is in order before this one can go: who comes after this one comes after it, too.
    const unsigned warp = thread_of(cell.reads[0]) / 32;
    int slot = 1;
    if (in_order(cell.reads[0]))
        slot = 0;
    else if (!in_order(cell.reads[1]) && (thread_of(cell.reads[1]) / 32 != warp || current->number / 32 == warp))
        return;
    cell.reads[slot] = now, cell.read_codes[slot] = access.code;
}

}  // namespace tinyvit::checks
