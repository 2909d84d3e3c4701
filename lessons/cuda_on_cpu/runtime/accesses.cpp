// What the checked variant asks at each access to memory. The compiler calls __tsan_read4 and its like before it, as
// for the thread sanitizer. Here these functions ask whether the place is in an array that the kernel was given, or in
// shared memory that somebody has written in this block; cells.cpp asks whether another thread touched it, too.
#define TINYVIT_SCHEDULER

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#ifdef __ELF__
#include <link.h>
#else
#include <dlfcn.h>
#endif

#include "cells.h"

namespace tinyvit::checks {

// An array in global memory, or several that overlap. checking.py has the same fields.
struct Array {
    unsigned long long start, bytes, item_bytes;
    Cell* cells;
    int argument;
    unsigned long long read, written, loads, stores;  // bytes: each counted once; then each time
};
struct Checks {
    Array* arrays;
    int count;
};

struct SharedMemory {
    const char* name;
    unsigned char* start;
    size_t bytes;
    Cell* cells;  // one for each byte
};

static Array* arrays;
static int array_count;
static SharedMemory shared_memory[1024], dynamic{"the extern __shared__ array", dynamic_shared, 0, nullptr};
static int shared_count;
static uintptr_t library_start, data_start, data_end;

#ifdef __ELF__
static int find_library(dl_phdr_info* info, size_t, void*) {
    const auto here = reinterpret_cast<uintptr_t>(&tinyvit::launch);
    uintptr_t low = ~uintptr_t(0), high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD) continue;
        const uintptr_t start = info->dlpi_addr + part.p_vaddr;
        low = start < low ? start : low;
        high = start + part.p_memsz > high ? start + part.p_memsz : high;
    }
    if (here < low || here >= high) return 0;
    library_start = info->dlpi_addr, data_start = low, data_end = high;
    return 1;
}
static void find_library() { dl_iterate_phdr(find_library, nullptr); }
#else
static void find_library() {  // its variables lie near each other
    Dl_info info;
    const auto here = reinterpret_cast<uintptr_t>(&tinyvit::launch);
    dladdr(&tinyvit::launch, &info);
    library_start = reinterpret_cast<uintptr_t>(info.dli_fbase);
    data_start = library_start, data_end = here + (4 << 20);
}
#endif

static Cell* new_cells(size_t count) { return static_cast<Cell*>(calloc(count, sizeof(Cell))); }

void launch() {
    if (!data_end) find_library();
    auto given = static_cast<Checks*>(tinyvit::launch.checks);
    arrays = given->arrays, array_count = given->count;
    for (int i = 0; i < array_count; i++) arrays[i].cells = new_cells(arrays[i].bytes / arrays[i].item_bytes + 1);
    shared_count = 0;
    dynamic.bytes = tinyvit::launch.shared_bytes;
    dynamic.cells = new_cells(dynamic.bytes);
}

void end() {
    for (int i = 0; i < array_count; i++) free(arrays[i].cells);
    for (int i = 0; i < shared_count; i++) free(shared_memory[i].cells);
    free(dynamic.cells);
}

void shared(const char* name, unsigned char* start, size_t bytes) {
    shared_memory[shared_count++] = {name, start, bytes, new_cells(bytes)};
}

static void touch_shared(SharedMemory& memory, unsigned char* place, size_t bytes, const Access& access) {
    if (place + bytes > memory.start + memory.bytes)
        fail("%s %zu bytes of shared memory, at byte %zu of %s, which has %zu ({%u}). Check the index, or the "
             "size given to the launch", access.verb(), bytes, size_t(place - memory.start), memory.name, memory.bytes,
             access.code);
    const Stamp now = stamp_now(access.is_atomic);
    for (size_t i = place - memory.start; bytes--; i++) {
        Cell& cell = memory.cells[i];
        const bool written = cell.write && block_of(cell.write) == block_number;
        if (access.reads() && !written)
            fail("%s shared memory that nobody has written in this block, byte %zu of %s ({%u}). Write it "
                 "first: it holds whatever was left there", access.verb(), i, memory.name, access.code);
        if (!written) cell.write = 0;
        for (Stamp& read : cell.reads)
            if (read && block_of(read) != block_number) read = 0;  // another block's shared memory is another
        touch(cell, access, now, {memory.name, i, 0});
    }
}

static void touch_array(Array& array, size_t start, size_t bytes, const Access& access) {
    const Stamp now = stamp_now(access.is_atomic);
    if (access.reads()) array.loads += bytes;
    if (access.write) array.stores += bytes;
    for (size_t i = start / array.item_bytes; i <= (start + bytes - 1) / array.item_bytes; i++) {
        Cell& cell = array.cells[i];
        if (access.reads() && !cell.was_read) cell.was_read = true, array.read += array.item_bytes;
        if (access.write && !cell.was_written) cell.was_written = true, array.written += array.item_bytes;
        touch(cell, access, now, {nullptr, i, array.argument});
    }
}

[[noreturn]] static void report_outside(uintptr_t address, size_t bytes, const Access& access) {
    const char* verb = access.verb();
    const Code code = access.code;
    if (address < 4096) fail("%s through a null pointer ({%u}): an argument was None", verb, code);
    for (int i = 0; i < shared_count; i++) {
        const auto start = reinterpret_cast<uintptr_t>(shared_memory[i].start);
        if (address + GAP >= start && address < start + shared_memory[i].bytes + GAP)
            fail("%s %zu bytes of shared memory, at byte %td of %s, which has %zu ({%u}). Check the index",
                 verb, bytes, static_cast<ptrdiff_t>(address - start), shared_memory[i].name, shared_memory[i].bytes,
                 code);
    }
    const Array* nearest = nullptr;
    unsigned long long least = ~0ull;
    for (int i = 0; i < array_count; i++) {
        const unsigned long long start = arrays[i].start, end = start + arrays[i].bytes;
        const unsigned long long distance = address < start ? start - address : address - end;
        if (distance < least) least = distance, nearest = &arrays[i];
    }
    if (!nearest) fail("%s %zu bytes, and was given no array ({%u})", verb, bytes, code);
    const long long offset = static_cast<long long>(address - nearest->start);
    fail("%s %zu bytes outside all arrays: nearest is argument %d, at its byte %lld of %llu, number %lld of %llu "
         "({%u}). Guard the index, or give a larger array", verb, bytes, nearest->argument, offset,
         nearest->bytes, offset / static_cast<long long>(nearest->item_bytes), nearest->bytes / nearest->item_bytes, code);
}

static void look(void* place, size_t bytes, bool write, bool is_atomic, bool aligned, void* from) {
    const auto address = reinterpret_cast<uintptr_t>(place);
    const auto stacks = reinterpret_cast<uintptr_t>(tinyvit::launch.stacks);
    if (address - stacks < tinyvit::launch.stack_bytes * thread_count) return;
    const auto code = static_cast<Code>(reinterpret_cast<uintptr_t>(from) - library_start - 1);
    const Access access{write, is_atomic, code};
    if (aligned && address % bytes)
        fail("%s %zu bytes at an address that is not a multiple of %zu ({%u}). Use smaller loads where the "
             "array or its rows are not aligned", access.verb(), bytes, bytes, access.code);
    for (int i = 0; i < array_count; i++) {
        const unsigned long long start = address - arrays[i].start;
        if (start < arrays[i].bytes && start + bytes <= arrays[i].bytes)
            return touch_array(arrays[i], start, bytes, access);
    }
    const auto byte = static_cast<unsigned char*>(place);
    if (byte >= dynamic_shared && byte < dynamic_shared + MOST_SHARED)
        return touch_shared(dynamic, byte, bytes, access);
    for (int i = 0; i < shared_count; i++)
        if (byte >= shared_memory[i].start && byte < shared_memory[i].start + shared_memory[i].bytes)
            return touch_shared(shared_memory[i], byte, bytes, access);
    const auto arena = reinterpret_cast<uintptr_t>(static_shared);
    if (address >= data_start && address < data_end && (address < arena || address >= arena + static_used + GAP))
        return;  // __constant__ and __device__ variables
    report_outside(address, bytes, access);
}

void atomic(void* place, size_t bytes, void* from) { look(place, bytes, true, true, true, from); }

}  // namespace tinyvit::checks

#define FROM __builtin_return_address(0)
#define TINYVIT_ACCESS(bytes) \
    void __tsan_read##bytes(void* place) { tinyvit::checks::look(place, bytes, false, false, true, FROM); } \
    void __tsan_write##bytes(void* place) { tinyvit::checks::look(place, bytes, true, false, true, FROM); } \
    void __tsan_unaligned_read##bytes(void* place) { tinyvit::checks::look(place, bytes, false, false, false, FROM); } \
    void __tsan_unaligned_write##bytes(void* place) { tinyvit::checks::look(place, bytes, true, false, false, FROM); }

struct Misaligned {  // as compilers lay it out for -fsanitize=alignment
    const char* file;
    unsigned line, column;
    const struct { unsigned short kind, info; char name[1]; } * type;
    unsigned char log_alignment, access;
};

extern "C" {
TINYVIT_ACCESS(1)
TINYVIT_ACCESS(2)
TINYVIT_ACCESS(4)
TINYVIT_ACCESS(8)
TINYVIT_ACCESS(16)
void __tsan_read_range(void* place, size_t bytes) { tinyvit::checks::look(place, bytes, false, false, false, FROM); }
void __tsan_write_range(void* place, size_t bytes) { tinyvit::checks::look(place, bytes, true, false, false, FROM); }
void* __tsan_memset(void* place, int value, size_t bytes) {
    tinyvit::checks::look(place, bytes, true, false, false, FROM);
    return memset(place, value, bytes);
}
void* __tsan_memmove(void* to, const void* from, size_t bytes) {
    tinyvit::checks::look(const_cast<void*>(from), bytes, false, false, false, FROM);
    tinyvit::checks::look(to, bytes, true, false, false, FROM);
    return memmove(to, from, bytes);
}
void* __tsan_memcpy(void* to, const void* from, size_t bytes) { return __tsan_memmove(to, from, bytes); }
void __ubsan_handle_type_mismatch_v1(const Misaligned* found, uintptr_t address) {
    const char* name = strrchr(found->file, '/');
    tinyvit::fail("uses the address %p, which is not a multiple of %u, as a pointer to %s (%s:%u). Use smaller "
                  "loads where the array or its rows are not aligned", reinterpret_cast<void*>(address),
                  1u << found->log_alignment, found->type->name, name ? name + 1 : found->file, found->line);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}
