// Atomic operations. One thread runs at a time, so plain ones do.
#include "../include/tinyvit_cuda/atomics.h"
#include "checks.h"

namespace tinyvit {

template <typename Bits, typename Signed, typename Float>
static Bits act(int operation, void* place, Bits value, Bits compare) {
    Bits old, result;
    __builtin_memcpy(&old, place, sizeof(Bits));
    const auto below = static_cast<Signed>(value) < static_cast<Signed>(old);
    Float number, change;
    __builtin_memcpy(&number, &old, sizeof(Bits));
    __builtin_memcpy(&change, &value, sizeof(Bits));
    number += change;
    switch (operation) {
        case ADD: result = old + value; break;
        case EXCHANGE: result = value; break;
        case COMPARE: result = old == compare ? value : old; break;
        case AND: result = old & value; break;
        case OR: result = old | value; break;
        case XOR: result = old ^ value; break;
        case MIN: result = value < old ? value : old; break;
        case MAX: result = value > old ? value : old; break;
        case MIN_BELOW_ZERO: result = below ? value : old; break;
        case MAX_BELOW_ZERO: result = below ? old : value; break;
        case INC: result = old >= value ? 0 : old + 1; break;
        case DEC: result = old == 0 || old > value ? value : old - 1; break;
        default: __builtin_memcpy(&result, &number, sizeof(Bits));
    }
    __builtin_memcpy(place, &result, sizeof(Bits));
    return old;
}

unsigned atomic_32(int operation, void* place, unsigned value, unsigned compare) {
    checks::atomic(place, 4, __builtin_return_address(0));
    return act<unsigned, int, float>(operation, place, value, compare);
}

unsigned long long atomic_64(int operation, void* place, unsigned long long value, unsigned long long compare) {
    checks::atomic(place, 8, __builtin_return_address(0));
    return act<unsigned long long, long long, double>(operation, place, value, compare);
}

}  // namespace tinyvit
