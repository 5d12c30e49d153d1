// The three forms of the bit-sliced kernels, and the vector operations they are written in.
//
// A kernel's body is written once against `Vec` and the functions below, in a file that its .cpp
// includes between CONCLUST_BEGIN_* and CONCLUST_END, once in each form's namespace. Target
// attributes are set per function, so the library needs no -march flag and runs on any x86-64
// (and, in the portable form, on any processor); the form is chosen at run time. All forms
// compute the same integers, hence the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__)
#define CONCLUST_X86 1
#include <immintrin.h>
#else
#define CONCLUST_X86 0
#endif

#if defined(__clang__)
#define CONCLUST_PRAGMA(text) _Pragma(#text)
#define CONCLUST_BEGIN_AVX512                                                                  \
    CONCLUST_PRAGMA(clang attribute push(                                                      \
        __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512bitalg"))), \
        apply_to = function))
#define CONCLUST_BEGIN_AVX2 \
    CONCLUST_PRAGMA(clang attribute push(__attribute__((target("avx2"))), apply_to = function))
#define CONCLUST_BEGIN_FMA \
    CONCLUST_PRAGMA(clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function))
#define CONCLUST_END _Pragma("clang attribute pop")
#else
#define CONCLUST_BEGIN_AVX512   \
    _Pragma("GCC push_options") \
        _Pragma("GCC target(\"avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512bitalg\")")
#define CONCLUST_BEGIN_AVX2 _Pragma("GCC push_options") _Pragma("GCC target(\"avx2\")")
#define CONCLUST_BEGIN_FMA _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,fma\")")
#define CONCLUST_END _Pragma("GCC pop_options")
#endif

#if defined(__GNUC__)
#define CONCLUST_FORM_INLINE inline __attribute__((always_inline))
#define CONCLUST_APART __attribute__((noinline))
#else
#define CONCLUST_FORM_INLINE inline
#define CONCLUST_APART
#endif

namespace conclust {

enum class Form { portable, avx2, avx512 };

// Whether CONCLUST_KERNELS=portable was set when the extension was loaded, which allows results to be compared.
inline bool only_portable() {
    static const bool only = [] {
        const char* asked = std::getenv("CONCLUST_KERNELS");
        return asked != nullptr && std::string_view(asked) == "portable";
    }();
    return only;
}

// The forms that this processor and operating system support, fastest first.
inline std::vector<Form> supported_forms() {
    std::vector<Form> forms;
#if CONCLUST_X86
    if (only_portable()) {
        return {Form::portable};
    }
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bitalg")) {
        forms.push_back(Form::avx512);
    }
    if (__builtin_cpu_supports("avx2")) {
        forms.push_back(Form::avx2);
    }
#endif
    forms.push_back(Form::portable);
    return forms;
}

inline const char* form_name(Form form) {
    switch (form) {
        case Form::avx512: return "avx512";
        case Form::avx2: return "avx2";
        case Form::portable: break;
    }
    return "portable";
}

// A byte represents a double: the sum of the doubles of its two half bytes. A form looks it up in a
// table with 16 doubles per half byte if registers can permute 16 doubles (AVX-512), or else with
// all 256 sums.
constexpr std::size_t half_table_size = 16;
constexpr std::size_t table_size(Form form) { return form == Form::avx512 ? 2 * half_table_size : 256; }

// Precondition: name is "auto" or one of the supported forms' names.
inline Form find_form(std::string_view name) {
    // Once: arguments are converted where nothing may throw.
    static const std::vector<Form> forms = supported_forms();
    for (const Form form : forms) {
        if (name == "auto" || name == form_name(form)) {
            return form;
        }
    }
    return Form::portable;
}

// The form itself, or another where the processor lacks fused multiply-adds.
inline Form with_fma(Form form) {
#if CONCLUST_X86
    return form == Form::avx2 && !__builtin_cpu_supports("fma") ? Form::portable : form;
#else
    return form;
#endif
}

namespace {

// If the table holds all sums.
CONCLUST_FORM_INLINE void look_up_bytes(const double* table, const std::uint8_t* bytes,
                                        std::size_t count, double* sums) {
    for (std::size_t k = 0; k < count; ++k) {
        sums[k] += table[bytes[k]];
    }
}

// In each form:
//   differ(x, a, b)     x | (a ^ b)
//   unless(x, a, b)     x | ~(a & b)
//   popcount(x)         set bits of every byte
//   look_up(t, x, s)    s[k] += the value of byte k of x by table t (see table_size)
//   of_zero(t)          the value of byte 0 by table t
//   lanes               bytes of a Vec; row_tile x column_tile: the register tile that fits
namespace portable {

// Two adjacent words if the compiler supports vectors: SSE2, NEON and similar.
#if defined(__GNUC__)
using Vec = std::uint64_t __attribute__((vector_size(16)));
#else
using Vec = std::uint64_t;
#endif
constexpr std::size_t lanes = sizeof(Vec);
constexpr std::size_t table_entries = table_size(Form::portable);
constexpr int row_tile = 4;
constexpr int column_tile = 1;

CONCLUST_FORM_INLINE Vec load(const std::uint8_t* from) {
    Vec v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
CONCLUST_FORM_INLINE void store(std::uint8_t* to, Vec v) { std::memcpy(to, &v, sizeof v); }
CONCLUST_FORM_INLINE Vec zero() { return Vec{}; }
CONCLUST_FORM_INLINE Vec spread(std::uint8_t byte) {
    return Vec{} + 0x0101010101010101u * std::uint64_t{byte};
}
CONCLUST_FORM_INLINE Vec spread4(std::uint32_t bytes) {
    return Vec{} + (std::uint64_t{bytes} << 32 | bytes);
}
CONCLUST_FORM_INLINE Vec differ(Vec x, Vec a, Vec b) { return x | (a ^ b); }
CONCLUST_FORM_INLINE Vec unless(Vec x, Vec a, Vec b) { return x | ~(a & b); }
CONCLUST_FORM_INLINE Vec popcount(Vec x) {
    x = x - (x >> 1 & 0x5555555555555555u);
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}
// Bytes never carry: callers flush before a byte can pass 255, and subtract only what was added.
CONCLUST_FORM_INLINE Vec add(Vec a, Vec b) { return a + b; }
CONCLUST_FORM_INLINE Vec subtract(Vec a, Vec b) { return a - b; }
CONCLUST_FORM_INLINE void look_up(const double* table, Vec x, double* sums) {
    std::uint8_t bytes[lanes];
    store(bytes, x);
    look_up_bytes(table, bytes, lanes, sums);
}
inline double of_zero(const double* table) { return table[0]; }

}  // namespace portable

#if CONCLUST_X86

CONCLUST_BEGIN_AVX2
namespace avx2 {

using Vec = __m256i;
constexpr std::size_t lanes = 32;
constexpr std::size_t table_entries = table_size(Form::avx2);
constexpr int row_tile = 4;
constexpr int column_tile = 1;

CONCLUST_FORM_INLINE Vec load(const std::uint8_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
CONCLUST_FORM_INLINE void store(std::uint8_t* to, Vec v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v);
}
CONCLUST_FORM_INLINE Vec zero() { return _mm256_setzero_si256(); }
CONCLUST_FORM_INLINE Vec spread(std::uint8_t byte) { return _mm256_set1_epi8(static_cast<char>(byte)); }
CONCLUST_FORM_INLINE Vec spread4(std::uint32_t bytes) {
    return _mm256_set1_epi32(static_cast<int>(bytes));
}
CONCLUST_FORM_INLINE Vec differ(Vec x, Vec a, Vec b) {
    return _mm256_or_si256(x, _mm256_xor_si256(a, b));
}
CONCLUST_FORM_INLINE Vec unless(Vec x, Vec a, Vec b) {
    return _mm256_or_si256(x, _mm256_xor_si256(_mm256_and_si256(a, b), _mm256_set1_epi8(-1)));
}
CONCLUST_FORM_INLINE Vec popcount(Vec x) {
    const Vec table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                       0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const Vec low = _mm256_set1_epi8(15);
    return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(x, low)),
                           _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
}
CONCLUST_FORM_INLINE Vec add(Vec a, Vec b) { return _mm256_add_epi8(a, b); }
CONCLUST_FORM_INLINE Vec subtract(Vec a, Vec b) { return _mm256_sub_epi8(a, b); }
CONCLUST_FORM_INLINE void look_up(const double* table, Vec x, double* sums) {
    alignas(32) std::uint8_t bytes[lanes];
    store(bytes, x);
    look_up_bytes(table, bytes, lanes, sums);
}
inline double of_zero(const double* table) { return table[0]; }

}  // namespace avx2
CONCLUST_END

CONCLUST_BEGIN_AVX512
namespace avx512 {

using Vec = __m512i;
constexpr std::size_t lanes = 64;
constexpr std::size_t table_entries = table_size(Form::avx512);
constexpr int row_tile = 4;
constexpr int column_tile = 3;

CONCLUST_FORM_INLINE Vec load(const std::uint8_t* from) { return _mm512_loadu_si512(from); }
CONCLUST_FORM_INLINE void store(std::uint8_t* to, Vec v) { _mm512_storeu_si512(to, v); }
CONCLUST_FORM_INLINE Vec zero() { return _mm512_setzero_si512(); }
CONCLUST_FORM_INLINE Vec spread(std::uint8_t byte) { return _mm512_set1_epi8(static_cast<char>(byte)); }
CONCLUST_FORM_INLINE Vec spread4(std::uint32_t bytes) {
    return _mm512_set1_epi32(static_cast<int>(bytes));
}
// The first operand is the truth table over (x, a, b). Written out, because the intrinsic lets gcc
// fold a broadcast load into each use and copy every register: a loop half as fast.
CONCLUST_FORM_INLINE Vec differ(Vec x, Vec a, Vec b) {
    asm("vpternlogd $0xf6, %2, %1, %0" : "+v"(x) : "v"(a), "v"(b));
    return x;
}
CONCLUST_FORM_INLINE Vec unless(Vec x, Vec a, Vec b) { return _mm512_ternarylogic_epi32(x, a, b, 0xf7); }
CONCLUST_FORM_INLINE Vec popcount(Vec x) { return _mm512_popcnt_epi8(x); }
CONCLUST_FORM_INLINE Vec add(Vec a, Vec b) { return _mm512_add_epi8(a, b); }
CONCLUST_FORM_INLINE Vec subtract(Vec a, Vec b) { return _mm512_sub_epi8(a, b); }
// A permutation of two registers by the low four bits of each lane is a table of sixteen doubles. The
// bytes are put such that a lane of eight holds one byte of every eight objects: shifts do the rest.
CONCLUST_FORM_INLINE void look_up(const double* table, Vec x, double* sums) {
    constexpr auto order = [] {
        std::array<std::uint8_t, lanes> places{};
        for (std::size_t k = 0; k < lanes; ++k) {
            places[k] = static_cast<std::uint8_t>(k % 8 * 8 + k / 8);
        }
        return places;
    }();
    const __m512d low[2] = {_mm512_loadu_pd(table), _mm512_loadu_pd(table + 8)};
    const __m512d high[2] = {_mm512_loadu_pd(table + 16), _mm512_loadu_pd(table + 24)};
    const Vec bytes = _mm512_maskz_permutexvar_epi8(~__mmask64{0}, load(order.data()), x);
    for (std::size_t k = 0; k < 8; ++k) {
        const __m512d sum =
            _mm512_add_pd(_mm512_permutex2var_pd(low[0], bytes >> (8 * k), low[1]),
                          _mm512_permutex2var_pd(high[0], bytes >> (8 * k + 4), high[1]));
        _mm512_storeu_pd(sums + 8 * k, _mm512_add_pd(_mm512_loadu_pd(sums + 8 * k), sum));
    }
}
inline double of_zero(const double* table) { return table[0] + table[half_table_size]; }

}  // namespace avx512
CONCLUST_END

#endif  // CONCLUST_X86

}  // namespace
}  // namespace conclust
