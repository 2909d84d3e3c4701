// A fiber: a stack of its own on which a CUDA thread runs until it waits. Switching saves only what a function must
// leave as it was; the compiler has saved the rest already.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" void tinyvit_switch(void** save, void* load);

#define TINYVIT_TEXT_OF(x) #x
#define TINYVIT_TEXT(x) TINYVIT_TEXT_OF(x)
#define TINYVIT_SYMBOL TINYVIT_TEXT(__USER_LABEL_PREFIX__) "tinyvit_switch"
#ifdef __ELF__
#define TINYVIT_HIDDEN ".hidden " TINYVIT_SYMBOL "\n"
#else
#define TINYVIT_HIDDEN
#endif

#ifdef __x86_64__
// The last two lines return by a jump: a processor foresees where a jump goes better than a return to another stack.
asm(".text\n.globl " TINYVIT_SYMBOL "\n" TINYVIT_HIDDEN TINYVIT_SYMBOL ":\n"
    "pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
    "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
    "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n"
    "popq %rcx\n jmp *%rcx\n");

inline void* new_fiber(char* stack, size_t bytes, void (*run)()) {
    auto top = reinterpret_cast<uintptr_t*>(stack + bytes);
    top[-2] = reinterpret_cast<uintptr_t>(run);  // below it six registers; run starts as if it had been called
    return top - 8;
}
#else
asm(".text\n.globl " TINYVIT_SYMBOL "\n" TINYVIT_HIDDEN ".p2align 2\n" TINYVIT_SYMBOL ":\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp]\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n stp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n"
    "mov x9, sp\n str x9, [x0]\n mov sp, x1\n"
    "ldp x19, x20, [sp]\n ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n ldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\n ldp x29, x30, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n"
    "add sp, sp, #160\n br x30\n");

inline void* new_fiber(char* stack, size_t bytes, void (*run)()) {
    auto start = reinterpret_cast<uintptr_t*>(stack + bytes - 160);
    start[11] = reinterpret_cast<uintptr_t>(run);  // x30, the address to return to
    return start;
}
#endif

#else  // another processor: slower, by the C library; a context lies at the low end of its stack

#include <ucontext.h>

inline void tinyvit_switch(void** save, void* load) {
    ucontext_t here;
    *save = &here;
    swapcontext(&here, static_cast<ucontext_t*>(load));
}

inline void* new_fiber(char* stack, size_t bytes, void (*run)()) {
    auto context = reinterpret_cast<ucontext_t*>(stack);
    getcontext(context);
    context->uc_stack.ss_sp = stack + sizeof(ucontext_t);
    context->uc_stack.ss_size = bytes - sizeof(ucontext_t);
    context->uc_link = nullptr;
    makecontext(context, run, 0);
    return context;
}
#endif
