// An operation of augmentation, as calls/augment.py tells it to the kernel.

#pragma once

// Places in KINDS of calls/augment.py.
enum { IDENTITY, MOVE, COLOUR, SHARPNESS, BRIGHTNESS, CONTRAST, POSTERIZE, SOLARIZE, AUTOCONTRAST, EQUALIZE };

constexpr int OPERATION_ROWS = 7;

// The operation on image b in one round: a kind, and six whole numbers for MOVE, a factor or threshold in the bits of a
// float, or how many bits POSTERIZE takes away.
struct Operation {
    int kind, numbers[6];

    // table (7, planned), that of the round.
    __device__ Operation(const int* table, int planned, int b) : kind(table[b]) {
#pragma unroll
        for (int i = 0; i < 6; i++) numbers[i] = table[(i + 1) * planned + b];
    }

    __device__ float factor() const { return __int_as_float(numbers[0]); }
};
