// What the checked variant is told by the scheduler; in the plain one all of it is nothing.
#pragma once

#include "state.h"

#pragma GCC visibility push(hidden)
namespace tinyvit::checks {

#ifdef TINYVIT_CHECKED
void launch();
void end();
void block();
void barrier();
void meeting(unsigned lanes);
void shared(const char* name, unsigned char* start, size_t bytes);
void atomic(void* place, size_t bytes, void* code);
#else
inline void launch() {}
inline void end() {}
inline void block() {}
inline void barrier() {}
inline void meeting(unsigned) {}
inline void shared(const char*, unsigned char*, size_t) {}
inline void atomic(void*, size_t, void*) {}
#endif

}  // namespace tinyvit::checks
#pragma GCC visibility pop
