// How a kernel is called from Python: its parameters described, and the arguments taken from where Python put them.
#pragma once

#include "scheduler.h"

namespace tinyvit {

struct Parameter {
    int size;           // of the parameter, in bytes
    char kind;          // 'f'loat, 'i'nteger, 'u'nsigned integer, 'b'ool, 'h' bfloat16, 's'truct, 'p'ointer
    int pointee_size;   // the same for what a pointer points to
    char pointee_kind;
    bool pointee_const;
};
struct Entry {
    const char* name;
    void (*run)(void** arguments);
    const Parameter* parameters;
    int count;
};

template <typename T> struct Kind { static constexpr char value = 's'; };
template <> struct Kind<bool> { static constexpr char value = 'b'; };
template <> struct Kind<float> { static constexpr char value = 'f'; };
template <> struct Kind<double> { static constexpr char value = 'f'; };
#define TINYVIT_KIND(T, letter) template <> struct Kind<T> { static constexpr char value = letter; };
TINYVIT_KIND(char, 'i') TINYVIT_KIND(signed char, 'i') TINYVIT_KIND(short, 'i') TINYVIT_KIND(int, 'i')
TINYVIT_KIND(long, 'i') TINYVIT_KIND(long long, 'i')
TINYVIT_KIND(unsigned char, 'u') TINYVIT_KIND(unsigned short, 'u') TINYVIT_KIND(unsigned int, 'u')
TINYVIT_KIND(unsigned long, 'u') TINYVIT_KIND(unsigned long long, 'u')
}  // namespace tinyvit
struct __nv_bfloat16;
namespace tinyvit {
TINYVIT_KIND(__nv_bfloat16, 'h')
#undef TINYVIT_KIND

template <typename T> struct Plain { using type = T; static constexpr bool is_const = false; };
template <typename T> struct Plain<const T> { using type = T; static constexpr bool is_const = true; };

template <typename T> struct Describe {
    static constexpr Parameter value{sizeof(T), Kind<typename Plain<T>::type>::value, 0, 0, false};
};
template <typename T> struct Describe<T*> {
    static constexpr Parameter value{
        sizeof(T*), 'p', sizeof(T), Kind<typename Plain<T>::type>::value, Plain<T>::is_const};
};
template <> struct Describe<void*> { static constexpr Parameter value{sizeof(void*), 'p', 0, 's', false}; };
template <> struct Describe<const void*> { static constexpr Parameter value{sizeof(void*), 'p', 0, 's', true}; };

template <int... I> struct Numbers {};
template <int N, int... I> struct UpTo : UpTo<N - 1, N - 1, I...> {};
template <int... I> struct UpTo<0, I...> { using type = Numbers<I...>; };

template <auto KERNEL> struct Call;
template <typename... P, void (*KERNEL)(P...)> struct Call<KERNEL> {
    static constexpr int count = sizeof...(P);
    static constexpr Parameter parameters[count + 1] = {Describe<typename Plain<P>::type>::value..., {}};
    // Where Python keeps the arguments is no business of the kernel's checks.
    template <int... I> __attribute__((no_sanitize("thread"))) static void unpack(void** arguments, Numbers<I...>) {
        KERNEL(*static_cast<typename Plain<P>::type*>(arguments[I])...);
    }
    static void run(void** arguments) { unpack(arguments, typename UpTo<count>::type()); }
};

template <typename CALL> constexpr Entry entry(const char* name) {
    return {name, CALL::run, CALL::parameters, CALL::count};
}

}  // namespace tinyvit

#define TINYVIT_ENTRY(name, ...) tinyvit::entry<tinyvit::Call<&__VA_ARGS__>>(name)
