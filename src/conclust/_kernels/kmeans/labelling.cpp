#include "kmeans/labelling.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/clones.h"
#include "base/pack.h"

#if defined(__clang__)
#define CONCLUST_BEGIN_FMA \
    CONCLUST_PRAGMA(clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function))
#else
#define CONCLUST_BEGIN_FMA _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,fma\")")
#endif

namespace conclust {
namespace {

// Centres whose scores are in registers together.
constexpr std::size_t together = 6;
// Points of the largest tile of a form.
constexpr std::size_t most_rows = 64;

// A member's centres as the scores read them, and the two parts of its bound.
struct PackedMember {
    std::size_t clusters = 0;
    std::size_t features = 0;
    const std::int32_t* columns = nullptr;
    const float* centers = nullptr;  // six by six: feature by feature, the centres beside each other
    const float* minus_half = nullptr;  // -|c|^2 / 2
    float per_length = 0.0F;  // the bound: this by the length of the point,
    float extra = 0.0F;  // and this
    const double* turned = nullptr;  // features x stride: the centres as they are
    std::size_t stride = 0;
};

// Points moved to the mean of the centres. Feature j of point r is at j * (rows of the form's tile) + r.
struct Tile {
    float* values;
    float* lengths;
    float* extras;  // of the bound, by the point alone
};

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
#include "kmeans/labelling_form.h"
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
#include "kmeans/labelling_form.h"
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
#include "kmeans/labelling_form.h"
}  // namespace avx512
CONCLUST_END
#endif  // CONCLUST_X86

constexpr double single_unit = 0x1p-24;  // the relative error of one rounding
constexpr double double_unit = 0x1p-53;
// Above and below these the squares in doubles leave their range.
constexpr double largest_known = 1e150;
constexpr double smallest_known = 1e-140;
constexpr double longest_known = 1e30;
// What underflow may take away, in units of the largest coordinate of a centre.
constexpr double underflow = 0x1p-120;
constexpr double slack = 1.0 + 1e-6;

// All centres, moved to their mean and scaled by a power of two such that coordinates are below 1.
//
// With u the unit of single precision and lengths X of the point, C of the longest centre, a score is off by at
// most (f + 4) u (X C + C^2 / 2): two units for the rounded inputs, one for each addition, and f u well below 1.
// The sums in doubles are off by (f + 3) 2^-53 (X + C)^2 each. What lies further apart than twice all of it
// (and a little) has the order of the sums.
class Packed {
  public:
    explicit Packed(const CenterTable& table, std::size_t d) : mean(d) {
        const std::size_t N = table.places.size();
        find_mean(table);
        std::size_t cells = 0;
        std::size_t rows = 0;
        std::size_t turned_cells = 0;
        members.resize(N);
        for (std::size_t u = 0; u < N; ++u) {
            PackedMember& member = members[u];
            member.clusters = static_cast<std::size_t>(table.starts[u + 1] - table.starts[u]);
            member.columns = table.columns.data() + table.column_starts[u];
            member.features =
                static_cast<std::size_t>(table.column_starts[u + 1] - table.column_starts[u]);
            member.stride = (member.clusters + pack_lanes - 1) / pack_lanes * pack_lanes;
            cells += member.clusters * member.features;
            rows += member.clusters;
            turned_cells += member.stride * member.features;
            most_clusters = std::max(most_clusters, member.stride);
            most_features = std::max(most_features, member.features);
        }
        centers_.resize(cells);
        minus_half_.resize(rows);
        turned_.resize(turned_cells);
        float* packed = centers_.data();
        float* minus_half = minus_half_.data();
        double* turned = turned_.data();
        const double* from = table.centers.data();
        for (PackedMember& member : members) {
            pack(member, from, packed, minus_half, turned);
            from += member.clusters * member.features;
            packed += member.clusters * member.features;
            minus_half += member.clusters;
            turned += member.stride * member.features;
        }
    }

    std::vector<PackedMember> members;
    std::vector<double> mean;
    double scale = 1.0;
    std::size_t most_clusters = 0;
    std::size_t most_features = 0;

  private:
    void find_mean(const CenterTable& table) {
        std::vector<double> counts(mean.size());
        each_value(table, [&](std::size_t j, double value) {
            mean[j] += value;
            counts[j] += 1.0;
        });
        for (std::size_t j = 0; j < mean.size(); ++j) {
            mean[j] = counts[j] > 0.0 ? mean[j] / counts[j] : 0.0;
        }
        double largest = 0.0;
        each_value(table, [&](std::size_t j, double value) {
            largest = std::max(largest, std::abs(value - mean[j]));
        });
        known_ = largest >= smallest_known && largest <= largest_known && mean.size() <= 100'000;
        if (known_) {
            int exponent = 0;
            std::frexp(largest, &exponent);
            scale = std::ldexp(1.0, -exponent);
        } else {
            std::fill(mean.begin(), mean.end(), 0.0);
        }
    }

    template <class Function>
    static void each_value(const CenterTable& table, const Function& function) {
        const double* value = table.centers.data();
        for (std::size_t u = 0; u < table.places.size(); ++u) {
            for (std::int64_t k = table.starts[u]; k < table.starts[u + 1]; ++k) {
                for (std::int64_t c = table.column_starts[u]; c < table.column_starts[u + 1]; ++c) {
                    function(static_cast<std::size_t>(table.columns[static_cast<std::size_t>(c)]),
                             *value++);
                }
            }
        }
    }

    void pack(PackedMember& member, const double* from, float* packed, float* minus_half,
              double* turned) const {
        member.centers = packed;
        member.minus_half = minus_half;
        member.turned = turned;
        const std::size_t f = member.features;
        double longest = 0.0;
        for (std::size_t k = 0; k < member.clusters; ++k) {
            const std::size_t first = k / together * together;
            const std::size_t beside = std::min(together, member.clusters - first);
            double square = 0.0;
            for (std::size_t j = 0; j < f; ++j) {
                const double value = from[k * f + j];
                const double moved =
                    known_ ? (value - mean[static_cast<std::size_t>(member.columns[j])]) * scale : 0.0;
                square += moved * moved;
                packed[first * f + j * beside + (k - first)] = static_cast<float>(moved);
                turned[j * member.stride + k] = value;
            }
            minus_half[k] = static_cast<float>(-0.5 * square);
            longest = std::max(longest, square);
        }
        if (!known_) {
            member.per_length = member.extra = std::numeric_limits<float>::infinity();
            return;
        }
        const double length = std::sqrt(longest) * slack;
        const double terms = static_cast<double>(f) + 4.0;
        const double in_single = 2.1 * terms * single_unit;
        const double in_double = 2.0 * terms * double_unit;
        member.per_length =
            static_cast<float>((in_single + 2.0 * in_double) * length + terms * underflow);
        member.extra =
            static_cast<float>((0.55 * in_single + in_double) * length * length + terms * underflow);
    }

    bool known_ = false;
    std::vector<float> centers_;
    std::vector<float> minus_half_;
    std::vector<double> turned_;
};

// Moves points to the mean, scales them and turns them. Only the bound reads the sums of squares: their order
// of summation is free.
template <class Value>
CONCLUST_INLINE void move_rows(const Value* x, std::size_t rows, std::size_t d, const double* mean,
                               double scale, std::size_t tile_rows, const Tile& tile) {
    constexpr std::size_t lanes = 8;
    const double in_double = 2.0 * (static_cast<double>(d) + 4.0) * double_unit;
    for (std::size_t r = 0; r < rows; ++r) {
        const Value* row = x + r * d;
        double sums[lanes] = {};
        std::size_t j = 0;
        for (; j + lanes <= d; j += lanes) {
            double moved[lanes];
            for (std::size_t l = 0; l < lanes; ++l) {
                moved[l] = (static_cast<double>(row[j + l]) - mean[j + l]) * scale;
                sums[l] += moved[l] * moved[l];
            }
            for (std::size_t l = 0; l < lanes; ++l) {
                tile.values[(j + l) * tile_rows + r] = static_cast<float>(moved[l]);
            }
        }
        for (; j < d; ++j) {
            const double moved = (static_cast<double>(row[j]) - mean[j]) * scale;
            sums[0] += moved * moved;
            tile.values[j * tile_rows + r] = static_cast<float>(moved);
        }
        double square = 0.0;
        for (std::size_t l = 0; l < lanes; ++l) {
            square += sums[l];
        }
        const double length = std::sqrt(square) * slack;
        const bool known = length <= longest_known && length <= largest_known * scale;
        tile.lengths[r] = known ? static_cast<float>(length) : std::numeric_limits<float>::infinity();
        tile.extras[r] = known ? static_cast<float>(in_double * length * length)
                               : std::numeric_limits<float>::infinity();
    }
}

CONCLUST_CLONES void move_singles(const float* x, std::size_t rows, std::size_t d, const double* mean,
                                  double scale, std::size_t tile_rows, const Tile& tile) {
    move_rows(x, rows, d, mean, scale, tile_rows, tile);
}

CONCLUST_CLONES void move_doubles(const double* x, std::size_t rows, std::size_t d, const double* mean,
                                  double scale, std::size_t tile_rows, const Tile& tile) {
    move_rows(x, rows, d, mean, scale, tile_rows, tile);
}

void move(const float* x, std::size_t rows, const Packed& packed, std::size_t tile_rows,
          const Tile& tile) {
    move_singles(x, rows, packed.mean.size(), packed.mean.data(), packed.scale, tile_rows, tile);
}

void move(const double* x, std::size_t rows, const Packed& packed, std::size_t tile_rows,
          const Tile& tile) {
    move_doubles(x, rows, packed.mean.size(), packed.mean.data(), packed.scale, tile_rows, tile);
}

template <std::size_t packs>
CONCLUST_INLINE void some_squares(const double* x, std::size_t f, const double* turned,
                                  std::size_t stride, double* squares) {
    Pack sums[packs];
    for (std::size_t p = 0; p < packs; ++p) {
        sums[p] = spread(0.0);
    }
    for (std::size_t j = 0; j < f; ++j) {
        const Pack value = spread(x[j]);
        for (std::size_t p = 0; p < packs; ++p) {
            Pack apart = value;
            apart -= load(turned + j * stride + p * pack_lanes);
            sums[p] += apart * apart;
        }
    }
    for (std::size_t p = 0; p < packs; ++p) {
        store(squares + p * pack_lanes, sums[p]);
    }
}

// The squared distances from a point to all centres of a member, each summed feature by feature.
CONCLUST_CLONES void all_squares(const double* x, std::size_t f, const double* turned,
                                 std::size_t stride, double* squares) {
    std::size_t k = 0;
    for (; k + 4 * pack_lanes <= stride; k += 4 * pack_lanes) {
        some_squares<4>(x, f, turned + k, stride, squares + k);
    }
    for (; k < stride; k += pack_lanes) {
        some_squares<1>(x, f, turned + k, stride, squares + k);
    }
}

// Memory of one thread.
struct Work {
    Work(const Packed& packed, std::size_t d)
        : values(d * most_rows),
          lengths(most_rows),
          extras(most_rows),
          which(packed.members.size() * most_rows),
          doubts(packed.members.size()),
          point(packed.most_features),
          squares(packed.most_clusters) {}

    std::vector<float> values;
    std::vector<float> lengths;
    std::vector<float> extras;
    std::vector<std::int32_t> which;
    std::vector<std::uint64_t> doubts;
    std::vector<double> point;
    std::vector<double> squares;
};

template <class Value>
std::int32_t nearest_by_sums(const Value* x, const PackedMember& member, Work& work) {
    for (std::size_t j = 0; j < member.features; ++j) {
        work.point[j] = static_cast<double>(x[member.columns[j]]);
    }
    all_squares(work.point.data(), member.features, member.turned, member.stride, work.squares.data());
    const auto* first = work.squares.data();
    return static_cast<std::int32_t>(std::min_element(first, first + member.clusters) - first);
}

template <class Value, class Code>
std::size_t label_rows(const Value* x, std::size_t rows, const Packed& packed,
                       std::span<const std::int32_t> places, Form form, Work& work, Code* labels,
                       std::size_t stride) {
    const Tile tile{work.values.data(), work.lengths.data(), work.extras.data()};
    std::size_t tile_rows = portable::tile_rows;
    const auto score = [&](std::size_t rows_of_form, auto function) {
        tile_rows = rows_of_form;
        move(x, rows, packed, tile_rows, tile);
        function(tile, std::span(packed.members), work.which.data(), work.doubts.data());
    };
#if CONCLUST_X86
    switch (form) {
        case Form::avx512: score(avx512::tile_rows, avx512::score_tile); break;
        case Form::avx2: score(avx2::tile_rows, avx2::score_tile); break;
        case Form::portable: score(portable::tile_rows, portable::score_tile); break;
    }
#else
    static_cast<void>(form);
    score(portable::tile_rows, portable::score_tile);
#endif
    std::size_t summed = 0;
    for (std::size_t u = 0; u < packed.members.size(); ++u) {
        std::uint64_t bits = work.doubts[u];
        if (rows < 64) {
            bits &= (std::uint64_t{1} << rows) - 1;
        }
        for (; bits != 0; bits &= bits - 1) {
            const auto r = static_cast<std::size_t>(std::countr_zero(bits));
            work.which[u * tile_rows + r] =
                nearest_by_sums(x + r * packed.mean.size(), packed.members[u], work);
            ++summed;
        }
    }
    for (std::size_t r = 0; r < rows; ++r) {
        Code* row = labels + r * stride;
        for (std::size_t u = 0; u < places.size(); ++u) {
            row[places[u]] = static_cast<Code>(work.which[u * tile_rows + r]);
        }
    }
    return summed;
}

Form with_fma(Form form) {
#if CONCLUST_X86
    return form == Form::avx2 && !__builtin_cpu_supports("fma") ? Form::portable : form;
#else
    return form;
#endif
}

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

}  // namespace

std::size_t label_block(const CenterTable& table, const LabelledBlock& block, int threads, Form form) {
    const Packed packed(table, block.d);
    const Form chosen = with_fma(form);
    const std::size_t step = rows_of(chosen);
    const std::size_t tiles = (block.n + step - 1) / step;
    // Made here, where an exception can leave.
    const std::size_t wanted =
        std::max<std::size_t>(1, std::min(static_cast<std::size_t>(threads), tiles));
    std::vector<Work> workers(wanted, Work(packed, block.d));
    std::atomic<std::size_t> taken{0};
    std::size_t summed = 0;
#pragma omp parallel default(none) num_threads(static_cast<int>(wanted)) reduction(+ : summed) \
    shared(table, block, packed, workers, taken, tiles) firstprivate(step, chosen)
    {
        Work& work = workers[taken.fetch_add(1)];
#pragma omp for schedule(dynamic, 16)
        for (std::size_t t = 0; t < tiles; ++t) {
            const std::size_t first = t * step;
            const std::size_t rows = std::min(step, block.n - first);
            std::visit([&](const auto& points, const auto& labels) {
                summed += label_rows(points.data() + first * block.d, rows, packed, table.places, chosen,
                                     work, labels.data() + first * block.stride, block.stride);
            }, block.points, block.labels);
        }
    }
    return summed;
}

}  // namespace conclust
