// All that CUDA C++ has without #include; put in front of every kernel file.
#pragma once

#include "language.h"
#include "scheduler.h"
#include "numbers.h"
#include "threads.h"
#include "atomics.h"
