// What the lanes of a warp do together.
#include "state.h"

namespace tinyvit {

static void nothing(void* const*, unsigned) {}

static void shuffle_values(void* const* all, unsigned mask) {
    unsigned long long values[32];
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        values[lane] = static_cast<Shuffle*>(all[lane])->value;
    }
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        auto mine = static_cast<Shuffle*>(all[lane]);
        if (mine->from_itself) continue;
        if (!(mask >> mine->source & 1))
            fail("in the shuffle at %s:%d lane %d asks for the value of lane %d, which takes no part: it is undefined. "
                 "Put both in the mask, and start whole warps", current->place.file, current->place.line, lane,
                 mine->source);
        mine->value = values[mine->source];
    }
}

static void ballot(void* const* all, unsigned mask) {
    unsigned result = 0;
    for (unsigned rest = mask; rest; rest &= rest - 1)
        result |= static_cast<unsigned>(static_cast<Vote*>(all[__builtin_ctz(rest)])->value) << __builtin_ctz(rest);
    for (unsigned rest = mask; rest; rest &= rest - 1) static_cast<Vote*>(all[__builtin_ctz(rest)])->result = result;
}

static void match(void* const* all, unsigned mask) {
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        auto mine = static_cast<Vote*>(all[__builtin_ctz(rest)]);
        mine->result = 0;
        for (unsigned others = mask; others; others &= others - 1)
            if (static_cast<Vote*>(all[__builtin_ctz(others)])->value == mine->value)
                mine->result |= others & -others;
    }
}

template <typename T, T (*COMBINE)(T, T)>
static void reduce(void* const* all, unsigned mask) {
    T result = static_cast<T>(static_cast<Vote*>(all[__builtin_ctz(mask)])->value);
    for (unsigned rest = mask & (mask - 1); rest; rest &= rest - 1)
        result = COMBINE(result, static_cast<T>(static_cast<Vote*>(all[__builtin_ctz(rest)])->value));
    for (unsigned rest = mask; rest; rest &= rest - 1)
        static_cast<Vote*>(all[__builtin_ctz(rest)])->result = static_cast<unsigned>(result);
}

template <typename T> static T sum(T a, T b) { return a + b; }
template <typename T> static T least(T a, T b) { return a < b ? a : b; }
template <typename T> static T most(T a, T b) { return a > b ? a : b; }
static unsigned bits_and(unsigned a, unsigned b) { return a & b; }
static unsigned bits_or(unsigned a, unsigned b) { return a | b; }
static unsigned bits_xor(unsigned a, unsigned b) { return a ^ b; }

// Number `half` (0 or 1) of the pair of bfloat16 in a register, as float.
static float part(unsigned pair, int half) {
    const unsigned bits = half ? pair & 0xffff0000 : pair << 16;
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
}

// Layouts of the PTX ISA for m16n8k16: with group = lane / 4 and place = lane % 4, a lane holds
//   a: rows group and group + 8 (register 1 and 3), columns 2 place and the next (2 and 3: 8 further on)
//   b: rows 2 place and the next (register 1: 8 further on), column group
//   c, d: rows group (0, 1) and group + 8 (2, 3), columns 2 place and the next
static void mma_bf16(void* const* all, unsigned mask) {
    if (mask != 0xffffffff) fail("a product of tiles needs all 32 lanes of a warp, and this warp has fewer threads");
    float a[16][16], b[16][8], result[16][8];
    for (int lane = 0; lane < 32; lane++) {
        const auto& mine = *static_cast<Product16x8x16*>(all[lane]);
        const int group = lane / 4, place = lane % 4;
        for (int i = 0; i < 4; i++)
            for (int half = 0; half < 2; half++)
                a[group + 8 * (i % 2)][2 * place + half + 8 * (i / 2)] = part(mine.a[i], half);
        for (int i = 0; i < 2; i++)
            for (int half = 0; half < 2; half++) b[2 * place + half + 8 * i][group] = part(mine.b[i], half);
        for (int i = 0; i < 4; i++) result[group + 8 * (i / 2)][2 * place + i % 2] = mine.c[i];
    }
    for (int row = 0; row < 16; row++)
        for (int inner = 0; inner < 16; inner++)
            for (int column = 0; column < 8; column++) result[row][column] += a[row][inner] * b[inner][column];
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++)
            static_cast<Product16x8x16*>(all[lane])->d[i] = result[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2];
}

extern const Meeting SYNC{"__syncwarp", nothing}, SHUFFLE{"a shuffle", shuffle_values}, BALLOT{"a vote", ballot},
    MATCH{"__match_any_sync", match}, ADD_SIGNED{"__reduce_add_sync", reduce<unsigned, sum<unsigned>>},
    MIN_SIGNED{"__reduce_min_sync", reduce<int, least<int>>}, MAX_SIGNED{"__reduce_max_sync", reduce<int, most<int>>},
    MIN_UNSIGNED{"__reduce_min_sync", reduce<unsigned, least<unsigned>>},
    MAX_UNSIGNED{"__reduce_max_sync", reduce<unsigned, most<unsigned>>},
    AND_BITS{"__reduce_and_sync", reduce<unsigned, bits_and>}, OR_BITS{"__reduce_or_sync", reduce<unsigned, bits_or>},
    XOR_BITS{"__reduce_xor_sync", reduce<unsigned, bits_xor>}, MMA_16X8X16_BF16{"mma.sync m16n8k16", mma_bf16};

}  // namespace tinyvit
