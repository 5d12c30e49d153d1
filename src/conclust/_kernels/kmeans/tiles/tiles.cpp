#include "kmeans/tiles/tiles.h"

#include <cmath>
#include <limits>

namespace conclust {
namespace {

namespace portable {
#if defined(__GNUC__)
using Floats = float __attribute__((vector_size(16)));
using Ints = std::int32_t __attribute__((vector_size(16)));
constexpr std::size_t wide = 4;
CONCLUST_FORM_INLINE Floats spread(float x) { return Floats{x, x, x, x}; }
CONCLUST_FORM_INLINE void meet(Floats score, std::int32_t k, Floats& best, Floats& second, Ints& which) {
    const Ints better = score > best;
    const Floats worse = better ? best : score;
    second = worse > second ? worse : second;
    best = better ? score : best;
    which = better ? Ints{k, k, k, k} : which;
}
CONCLUST_FORM_INLINE std::uint64_t doubtful(Floats lead, Floats bound) {
    const Ints sure = lead > bound;
    std::uint64_t bits = 0;
    for (std::size_t l = 0; l < wide; ++l) {
        bits |= std::uint64_t{sure[l] == 0} << l;
    }
    return bits;
}
#else
using Floats = float;
using Ints = std::int32_t;
constexpr std::size_t wide = 1;
inline Floats spread(float x) { return x; }
inline void meet(Floats score, std::int32_t k, Floats& best, Floats& second, Ints& which) {
    const bool better = score > best;
    const Floats worse = better ? best : score;
    second = worse > second ? worse : second;
    best = better ? score : best;
    which = better ? k : which;
}
inline std::uint64_t doubtful(Floats lead, Floats bound) { return lead > bound ? 0 : 1; }
#endif
constexpr std::size_t across = 2;
CONCLUST_FORM_INLINE Floats load(const float* from) {
    Floats v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
CONCLUST_FORM_INLINE Ints load(const std::int32_t* from) {
    Ints v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
CONCLUST_FORM_INLINE void store(float* to, Floats v) { std::memcpy(to, &v, sizeof v); }
CONCLUST_FORM_INLINE void store(std::int32_t* to, Ints v) { std::memcpy(to, &v, sizeof v); }
CONCLUST_FORM_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
#include "kmeans/tiles/form.h"
}  // namespace portable

#if CONCLUST_X86
CONCLUST_BEGIN_FMA
namespace avx2 {
using Floats = __m256;
using Ints = __m256i;
constexpr std::size_t wide = 8;
constexpr std::size_t across = 2;
CONCLUST_FORM_INLINE Floats spread(float x) { return _mm256_set1_ps(x); }
CONCLUST_FORM_INLINE Floats load(const float* from) { return _mm256_loadu_ps(from); }
CONCLUST_FORM_INLINE Ints load(const std::int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
CONCLUST_FORM_INLINE void store(float* to, Floats v) { _mm256_storeu_ps(to, v); }
CONCLUST_FORM_INLINE void store(std::int32_t* to, Ints v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v);
}
CONCLUST_FORM_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
    return _mm256_fmadd_ps(a, b, c);
}
CONCLUST_FORM_INLINE void meet(Floats score, std::int32_t k, Floats& best, Floats& second, Ints& which) {
    const Floats better = _mm256_cmp_ps(score, best, _CMP_GT_OQ);
    second = _mm256_max_ps(second, _mm256_min_ps(score, best));
    best = _mm256_max_ps(score, best);
    which = _mm256_blendv_epi8(which, _mm256_set1_epi32(k), _mm256_castps_si256(better));
}
CONCLUST_FORM_INLINE std::uint64_t doubtful(Floats lead, Floats bound) {
    return static_cast<std::uint64_t>(_mm256_movemask_ps(_mm256_cmp_ps(lead, bound, _CMP_NGT_UQ)));
}
#include "kmeans/tiles/form.h"
}  // namespace avx2
CONCLUST_END

CONCLUST_BEGIN_AVX512
namespace avx512 {
using Floats = __m512;
using Ints = __m512i;
constexpr std::size_t wide = 16;
constexpr std::size_t across = 4;
CONCLUST_FORM_INLINE Floats spread(float x) { return _mm512_set1_ps(x); }
CONCLUST_FORM_INLINE Floats load(const float* from) { return _mm512_loadu_ps(from); }
CONCLUST_FORM_INLINE Ints load(const std::int32_t* from) { return _mm512_loadu_si512(from); }
CONCLUST_FORM_INLINE void store(float* to, Floats v) { _mm512_storeu_ps(to, v); }
CONCLUST_FORM_INLINE void store(std::int32_t* to, Ints v) { _mm512_storeu_si512(to, v); }
CONCLUST_FORM_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
    return _mm512_fmadd_ps(a, b, c);
}
CONCLUST_FORM_INLINE void meet(Floats score, std::int32_t k, Floats& best, Floats& second, Ints& which) {
    constexpr auto every = static_cast<__mmask16>(~0U);  // gcc warns of its own unmasked intrinsics
    const __mmask16 better = _mm512_cmp_ps_mask(score, best, _CMP_GT_OQ);
    second = _mm512_maskz_max_ps(every, second, _mm512_maskz_min_ps(every, score, best));
    best = _mm512_maskz_max_ps(every, score, best);
    which = _mm512_mask_mov_epi32(which, better, _mm512_set1_epi32(k));
}
CONCLUST_FORM_INLINE std::uint64_t doubtful(Floats lead, Floats bound) {
    return _mm512_cmp_ps_mask(lead, bound, _CMP_NGT_UQ);
}
#include "kmeans/tiles/form.h"
}  // namespace avx512
CONCLUST_END
#endif  // CONCLUST_X86

}  // namespace

std::size_t rows_of(Form form) {
#if CONCLUST_X86
    switch (form) {
        case Form::avx512: return avx512::tile_rows;
        case Form::avx2: return avx2::tile_rows;
        case Form::portable: break;
    }
#endif
    static_cast<void>(form);
    return portable::tile_rows;
}

void score_tile(Form form, const Tile& tile, std::span<const PackedMember> members, std::int32_t* which,
                std::uint64_t* doubts) {
#if CONCLUST_X86
    switch (form) {
        case Form::avx512: avx512::score_tile(tile, members, which, doubts); return;
        case Form::avx2: avx2::score_tile(tile, members, which, doubts); return;
        case Form::portable: break;
    }
#endif
    static_cast<void>(form);
    portable::score_tile(tile, members, which, doubts);
}

void bound_errors(PackedMember& member, double longest) {
    const double length = std::sqrt(longest) * bound_slack;
    const double terms = static_cast<double>(member.features) + 4.0;
    const double in_single = 2.1 * terms * single_unit;
    const double in_double = 2.0 * terms * double_unit;
    member.per_length = static_cast<float>((in_single + 2.0 * in_double) * length + terms * underflow);
    member.extra =
        static_cast<float>((0.55 * in_single + in_double) * length * length + terms * underflow);
}

}  // namespace conclust
