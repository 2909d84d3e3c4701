// Who touched a number last, for the checked variant, and whether two accesses are in order.
//
// An access is a stamp of 64 bits:
//   atomic 1 | block + 1: 21 | thread 10 | how many barriers its block had passed 16 | its own clock 16
// A thread's clock counts the __syncwarp it has passed since the last barrier. Each thread knows how far it has seen
// the clocks of the other lanes of its warp; two accesses are in order if they are of one thread, if their block passed
// a barrier between them, or if the second thread has seen the clock of the first. Blocks are never in order.
#pragma once

#include "checks.h"

#pragma GCC visibility push(hidden)
namespace tinyvit::checks {

using Stamp = unsigned long long;
using Code = unsigned;  // an address in the kernel's code, counted from the start of the library

struct Cell {  // of one number of an array, or one byte of shared memory; zeros at first
    Stamp write, reads[2];
    Code write_code, read_codes[2];
    bool was_read, was_written;
};

struct Place {  // a number of an array, or, with a name, a byte of shared memory
    const char* name;
    size_t number;
    int argument;
};

struct Access {
    bool write, is_atomic;
    Code code;
    bool reads() const { return !write || is_atomic; }
    const char* verb() const { return is_atomic ? "changes atomically" : write ? "writes" : "reads"; }
};

Stamp stamp_now(bool is_atomic);
inline unsigned block_of(Stamp stamp) { return (stamp >> 42 & 0x1fffff) - 1; }

// Compares an access with those that the cell knows of, ends the launch if it races with one, and puts it down.
void touch(Cell& cell, const Access& access, Stamp now, const Place& place);

}  // namespace tinyvit::checks
#pragma GCC visibility pop
