#include "neighbours/search.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"
#include "kmeans/tiles/tiles.h"

namespace conclust {
namespace {

// Maximum number of neighbours for which the best scores are kept sorted; for more, the candidates are sifted when
// they have doubled.
constexpr std::size_t most_in_order = 32;
constexpr float infinity = std::numeric_limits<float>::infinity();

// All points, moved to their mean and scaled by a power of two such that coordinates are below 1; each cell
// begins with a new six, and the padding of its last one has a score below every threshold.
struct PackedPoints {
    explicit PackedPoints(const NeighbourSearch& search);

    std::vector<float> values;  // six by six: feature by feature, the points beside each other
    std::vector<float> minus_half;  // -|p|^2 / 2
    std::vector<std::int32_t> places;  // of each point in the search
    std::vector<std::size_t> sixes;  // of cell c: the sixes sixes[c] .. sixes[c + 1]
    std::vector<double> mean;
    double scale = 1.0;
    bool known = false;  // false: coordinates are too large or too small for scores
    // The bound of a query: its length by this, and this.
    double per_length = 0.0;
    double extra = 0.0;
};

// The largest distance of a coordinate from the mean, which is written.
double find_mean(std::span<const double> points, std::vector<double>& mean) {
    const std::size_t d = mean.size();
    const std::size_t n = points.size() / d;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < d; ++j) {
            mean[j] += points[i * d + j];
        }
    }
    for (double& value : mean) {
        value /= static_cast<double>(n);
    }
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < d; ++j) {
            largest = std::max(largest, std::abs(points[i * d + j] - mean[j]));
        }
    }
    return largest;
}

PackedPoints::PackedPoints(const NeighbourSearch& search) : mean(search.d) {
    const std::size_t d = search.d;
    const std::size_t n_cells = search.cells.size() - 1;
    const double largest = find_mean(search.points, mean);
    known = largest >= smallest_known && largest <= largest_known && d <= most_features_known;
    if (known) {
        int exponent = 0;
        std::frexp(largest, &exponent);
        scale = std::ldexp(1.0, -exponent);
    } else {
        std::fill(mean.begin(), mean.end(), 0.0);
    }
    sixes.resize(n_cells + 1);
    for (std::size_t c = 0; c < n_cells; ++c) {
        const auto size = static_cast<std::size_t>(search.cells[c + 1] - search.cells[c]);
        sixes[c + 1] = sixes[c] + (size + together - 1) / together;
    }
    values.resize(sixes.back() * together * d);
    minus_half.resize(sixes.back() * together, -infinity);
    places.resize(sixes.back() * together);
    double longest = 0.0;
    for (std::size_t c = 0; c < n_cells; ++c) {
        std::size_t slot = sixes[c] * together;
        for (auto i = static_cast<std::size_t>(search.cells[c]);
             i < static_cast<std::size_t>(search.cells[c + 1]); ++i, ++slot) {
            float* packed = values.data() + slot / together * together * d + slot % together;
            double square = 0.0;
            for (std::size_t j = 0; j < d; ++j) {
                const double moved = known ? (search.points[i * d + j] - mean[j]) * scale : 0.0;
                square += moved * moved;
                packed[j * together] = static_cast<float>(moved);
            }
            minus_half[slot] = static_cast<float>(-0.5 * square);
            places[slot] = static_cast<std::int32_t>(i);
            longest = std::max(longest, square);
        }
    }
    if (known) {
        const double length = std::sqrt(longest) * bound_slack;
        const double terms = static_cast<double>(d) + 4.0;
        const double in_single = 2.1 * terms * single_unit;
        const double in_double = 2.0 * terms * double_unit;
        per_length = (in_single + 2.0 * in_double) * length + terms * underflow;
        extra = (0.55 * in_single + in_double) * length * length + terms * underflow;
    }
}

struct Candidate {
    float score;
    std::int32_t place;
};

// The points that may be among the k nearest of each query of a tile.
struct Candidates {
    void begin(std::size_t rows, std::size_t k_wanted) {
        k = k_wanted;
        in_order = k <= most_in_order;
        for (std::size_t r = 0; r < most_rows; ++r) {
            std::fill_n(best[r].begin(), std::min(k, most_in_order), -infinity);
            // Nothing exceeds the threshold of a padding row.
            thresholds[r] = r < rows ? -infinity : infinity;
            of[r].clear();
            limits[r] = 2 * k + 32;
        }
    }

    void add(std::size_t r, float score, std::int32_t place) {
        if (place == left_out[r]) {
            return;
        }
        of[r].push_back({score, place});
        if (in_order) {
            insert(r, score);
        } else if (of[r].size() >= limits[r]) {
            sift(r);
            limits[r] = std::max(limits[r], 2 * of[r].size());
        }
    }

    // Drops points that are certainly further away than k others.
    void sift(std::size_t r) {
        std::vector<Candidate>& own = of[r];
        if (own.size() <= k) {
            return;
        }
        if (!in_order) {
            const auto kth = own.begin() + static_cast<std::ptrdiff_t>(k - 1);
            std::nth_element(own.begin(), kth, own.end(),
                             [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
            thresholds[r] = threshold_below(kth->score, r);
        }
        const float threshold = thresholds[r];
        std::erase_if(own, [=](const Candidate& each) { return !(each.score > threshold); });
    }

    // Puts a score among the k best of a query, the largest first; the threshold follows the last of them.
    void insert(std::size_t r, float score) {
        float* scores = best[r].data();
        std::size_t at = k - 1;
        if (!(score > scores[at])) {
            return;
        }
        for (; at > 0 && score > scores[at - 1]; --at) {
            scores[at] = scores[at - 1];
        }
        scores[at] = score;
        thresholds[r] = threshold_below(scores[k - 1], r);
    }

    // A threshold that only points certainly further away than the one with `score` fail to exceed.
    float threshold_below(float score, std::size_t r) const {
        const auto least = static_cast<float>((static_cast<double>(score) - bounds[r]) - 1e-30);
        return least - (std::abs(least) * 0x1p-22F + std::numeric_limits<float>::min());
    }

    alignas(64) std::array<float, most_rows> thresholds{};
    std::array<double, most_rows> bounds{};
    std::array<std::int32_t, most_rows> left_out{};
    std::array<std::vector<Candidate>, most_rows> of;
    std::array<std::size_t, most_rows> limits{};
    std::array<std::array<float, most_in_order>, most_rows> best{};
    std::size_t k = 1;
    bool in_order = true;
};

namespace portable {
#if defined(__GNUC__)
using Floats = float __attribute__((vector_size(16)));
constexpr std::size_t wide = 4;
CONCLUST_FORM_INLINE Floats spread(float x) { return Floats{x, x, x, x}; }
CONCLUST_FORM_INLINE std::uint64_t above(Floats score, Floats threshold) {
    const auto more = score > threshold;
    std::uint64_t bits = 0;
    for (std::size_t l = 0; l < wide; ++l) {
        bits |= std::uint64_t{more[l] != 0} << l;
    }
    return bits;
}
#else
using Floats = float;
constexpr std::size_t wide = 1;
inline Floats spread(float x) { return x; }
inline std::uint64_t above(Floats score, Floats threshold) { return score > threshold ? 1 : 0; }
#endif
constexpr std::size_t across = 2;
CONCLUST_FORM_INLINE Floats load(const float* from) {
    Floats v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
CONCLUST_FORM_INLINE void store(float* to, Floats v) { std::memcpy(to, &v, sizeof v); }
CONCLUST_FORM_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
#include "neighbours/search_form.h"
}  // namespace portable

#if CONCLUST_X86
CONCLUST_BEGIN_FMA
namespace avx2 {
using Floats = __m256;
constexpr std::size_t wide = 8;
constexpr std::size_t across = 2;
CONCLUST_FORM_INLINE Floats spread(float x) { return _mm256_set1_ps(x); }
CONCLUST_FORM_INLINE Floats load(const float* from) { return _mm256_loadu_ps(from); }
CONCLUST_FORM_INLINE void store(float* to, Floats v) { _mm256_storeu_ps(to, v); }
CONCLUST_FORM_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
    return _mm256_fmadd_ps(a, b, c);
}
CONCLUST_FORM_INLINE std::uint64_t above(Floats score, Floats threshold) {
    return static_cast<std::uint64_t>(_mm256_movemask_ps(_mm256_cmp_ps(score, threshold, _CMP_GT_OQ)));
}
#include "neighbours/search_form.h"
}  // namespace avx2
CONCLUST_END

CONCLUST_BEGIN_AVX512
namespace avx512 {
using Floats = __m512;
constexpr std::size_t wide = 16;
constexpr std::size_t across = 4;
CONCLUST_FORM_INLINE Floats spread(float x) { return _mm512_set1_ps(x); }
CONCLUST_FORM_INLINE Floats load(const float* from) { return _mm512_loadu_ps(from); }
CONCLUST_FORM_INLINE void store(float* to, Floats v) { _mm512_storeu_ps(to, v); }
CONCLUST_FORM_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
    return _mm512_fmadd_ps(a, b, c);
}
CONCLUST_FORM_INLINE std::uint64_t above(Floats score, Floats threshold) {
    return _mm512_cmp_ps_mask(score, threshold, _CMP_GT_OQ);
}
#include "neighbours/search_form.h"
}  // namespace avx512
CONCLUST_END
#endif  // CONCLUST_X86

// Moves a query to the mean, scales and turns it; returns its squared length, which only the bound reads.
CONCLUST_CLONES double move_query(const double* x, std::size_t d, const double* mean, double scale,
                                  std::size_t rows_of_form, float* values) {
    double square = 0.0;
    for (std::size_t j = 0; j < d; ++j) {
        const double moved = (x[j] - mean[j]) * scale;
        square += moved * moved;
        values[j * rows_of_form] = static_cast<float>(moved);
    }
    return square;
}

// The squared distances from a query to four points, each summed feature by feature.
CONCLUST_CLONES void four_squares(const double* x, const double* const* points, std::size_t d,
                                  double* squares) {
    double a = 0.0;
    double b = 0.0;
    double c = 0.0;
    double e = 0.0;
    for (std::size_t j = 0; j < d; ++j) {
        const double to_a = x[j] - points[0][j];
        const double to_b = x[j] - points[1][j];
        const double to_c = x[j] - points[2][j];
        const double to_e = x[j] - points[3][j];
        a += to_a * to_a;
        b += to_b * to_b;
        c += to_c * to_c;
        e += to_e * to_e;
    }
    squares[0] = a;
    squares[1] = b;
    squares[2] = c;
    squares[3] = e;
}

struct Neighbour {
    double square;
    std::int32_t name;
    bool operator<(const Neighbour& other) const {
        return square < other.square || (square == other.square && name < other.name);
    }
};

// Memory of one thread.
struct Work {
    explicit Work(std::size_t d) : tile(d * most_rows) {}

    std::vector<float> tile;
    Candidates candidates;
    std::vector<Neighbour> nearest;
};

// Some queries of a group.
struct QueryTile {
    std::size_t group;
    std::size_t first;
    std::size_t rows;
};

class Searcher {
  public:
    Searcher(const NeighbourSearch& search, Form form)
        : search_(search), packed_(search), form_(form), places_(search.names.size()) {
        for (std::size_t i = 0; i < search.names.size(); ++i) {
            places_[static_cast<std::size_t>(search.names[i])] = static_cast<std::int32_t>(i);
        }
    }

    void find(const QueryTile& tile, Work& work, std::span<std::int32_t> found,
              std::span<double> squares) const {
#if CONCLUST_X86
        switch (form_) {
            case Form::avx512: collect(tile, work, avx512::tile_rows, avx512::scan); break;
            case Form::avx2: collect(tile, work, avx2::tile_rows, avx2::scan); break;
            case Form::portable: collect(tile, work, portable::tile_rows, portable::scan); break;
        }
#else
        collect(tile, work, portable::tile_rows, portable::scan);
#endif
        for (std::size_t r = 0; r < tile.rows; ++r) {
            const std::size_t query = tile.first + r;
            decide(query, r, work);
            for (std::size_t m = 0; m < search_.k; ++m) {
                found[query * search_.k + m] = work.nearest[m].name;
                squares[query * search_.k + m] = work.nearest[m].square;
            }
        }
    }

  private:
    template <class Scan>
    void collect(const QueryTile& tile, Work& work, std::size_t rows_of_form, const Scan& scan) const {
        const std::size_t d = search_.d;
        const double in_double = 2.0 * (static_cast<double>(d) + 4.0) * double_unit;
        Candidates& candidates = work.candidates;
        candidates.begin(tile.rows, search_.k);
        for (std::size_t r = 0; r < tile.rows; ++r) {
            const std::size_t query = tile.first + r;
            const double square = move_query(search_.queries.data() + query * d, d, packed_.mean.data(),
                                             packed_.scale, rows_of_form, work.tile.data() + r);
            const double length = std::sqrt(square) * bound_slack;
            const bool known =
                packed_.known && length <= longest_known && length <= largest_known * packed_.scale;
            candidates.bounds[r] =
                known ? packed_.per_length * length + packed_.extra + in_double * length * length
                      : std::numeric_limits<double>::infinity();
            if (!known) {
                for (std::size_t j = 0; j < d; ++j) {
                    work.tile[j * rows_of_form + r] = 0.0F;
                }
            }
            const std::int32_t name = search_.excluded[query];
            candidates.left_out[r] = name < 0 ? -1 : places_[static_cast<std::size_t>(name)];
        }
        for (std::size_t at = static_cast<std::size_t>(search_.list_starts[tile.group]);
             at < static_cast<std::size_t>(search_.list_starts[tile.group + 1]); ++at) {
            const auto cell = static_cast<std::size_t>(search_.listed[at]);
            scan(work.tile.data(), d, packed_, packed_.sixes[cell], packed_.sixes[cell + 1], candidates);
        }
    }

    // The nearest of a query's candidates, in order: at least k.
    void decide(std::size_t query, std::size_t r, Work& work) const {
        work.candidates.sift(r);
        const std::vector<Candidate>& own = work.candidates.of[r];
        const std::size_t d = search_.d;
        const double* x = search_.queries.data() + query * d;
        work.nearest.clear();
        for (std::size_t first = 0; first < own.size(); first += 4) {
            const double* points[4];
            double squares[4];
            for (std::size_t l = 0; l < 4; ++l) {
                const Candidate& each = own[std::min(first + l, own.size() - 1)];
                points[l] = search_.points.data() + static_cast<std::size_t>(each.place) * d;
            }
            four_squares(x, points, d, squares);
            for (std::size_t l = 0; l < 4 && first + l < own.size(); ++l) {
                const auto place = static_cast<std::size_t>(own[first + l].place);
                work.nearest.push_back({squares[l], search_.names[place]});
            }
        }
        const auto kth = work.nearest.begin() + static_cast<std::ptrdiff_t>(search_.k);
        std::partial_sort(work.nearest.begin(), kth, work.nearest.end());
    }

    const NeighbourSearch& search_;
    PackedPoints packed_;
    Form form_;
    std::vector<std::int32_t> places_;  // of each name
};

std::size_t queries_of(Form form) {
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

void nearest_points(const NeighbourSearch& search, std::span<std::int32_t> found,
                    std::span<double> squares, int threads, Form form) {
    const Form chosen = with_fma(form);
    const Searcher searcher(search, chosen);
    std::vector<QueryTile> tiles;
    for (std::size_t g = 0; g + 1 < search.groups.size(); ++g) {
        const auto end = static_cast<std::size_t>(search.groups[g + 1]);
        for (auto first = static_cast<std::size_t>(search.groups[g]); first < end;
             first += queries_of(chosen)) {
            tiles.push_back({g, first, std::min(queries_of(chosen), end - first)});
        }
    }
    const auto wanted =
        std::max<std::size_t>(1, std::min(static_cast<std::size_t>(threads), tiles.size()));
    std::vector<Work> workers(wanted, Work(search.d));
    std::atomic<std::size_t> taken{0};
    Interruption interruption;
    const auto count = static_cast<std::ptrdiff_t>(tiles.size());
#pragma omp parallel default(none) num_threads(static_cast<int>(wanted)) \
    shared(searcher, tiles, workers, taken, interruption, found, squares) firstprivate(count)
    {
        Work& work = workers[taken.fetch_add(1)];
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t t = 0; t < count; ++t) {
            if (!interruption.wanted(t, count)) {
                interruption.guard(
                    [&] { searcher.find(tiles[static_cast<std::size_t>(t)], work, found, squares); });
            }
        }
    }
    interruption.pass_on();
}

}  // namespace conclust
