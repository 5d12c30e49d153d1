#include "kmeans/labelling.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/clones.h"
#include "base/pack.h"
#include "kmeans/tiles/tiles.h"

namespace conclust {
namespace {

// All centres, moved to their mean and scaled by a power of two such that coordinates are below 1.
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
        known_ =
            largest >= smallest_known && largest <= largest_known && mean.size() <= most_features_known;
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
            const PackedPlace place = packed_place(k, member.clusters, f);
            double square = 0.0;
            for (std::size_t j = 0; j < f; ++j) {
                const double value = from[k * f + j];
                const double moved =
                    known_ ? (value - mean[static_cast<std::size_t>(member.columns[j])]) * scale : 0.0;
                square += moved * moved;
                packed[place.first + j * place.beside] = static_cast<float>(moved);
                turned[j * member.stride + k] = value;
            }
            minus_half[k] = static_cast<float>(-0.5 * square);
            longest = std::max(longest, square);
        }
        if (!known_) {
            member.per_length = member.extra = std::numeric_limits<float>::infinity();
            return;
        }
        bound_errors(member, longest);
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
                               double scale, std::size_t tile_rows, float* values, float* lengths,
                               float* extras) {
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
                values[(j + l) * tile_rows + r] = static_cast<float>(moved[l]);
            }
        }
        for (; j < d; ++j) {
            const double moved = (static_cast<double>(row[j]) - mean[j]) * scale;
            sums[0] += moved * moved;
            values[j * tile_rows + r] = static_cast<float>(moved);
        }
        double square = 0.0;
        for (std::size_t l = 0; l < lanes; ++l) {
            square += sums[l];
        }
        const double length = std::sqrt(square) * bound_slack;
        const bool known = length <= longest_known && length <= largest_known * scale;
        lengths[r] = known ? static_cast<float>(length) : std::numeric_limits<float>::infinity();
        extras[r] = known ? static_cast<float>(in_double * length * length)
                          : std::numeric_limits<float>::infinity();
    }
}

CONCLUST_CLONES void move_singles(const float* x, std::size_t rows, std::size_t d, const double* mean,
                                  double scale, std::size_t tile_rows, float* values, float* lengths,
                                  float* extras) {
    move_rows(x, rows, d, mean, scale, tile_rows, values, lengths, extras);
}

CONCLUST_CLONES void move_doubles(const double* x, std::size_t rows, std::size_t d, const double* mean,
                                  double scale, std::size_t tile_rows, float* values, float* lengths,
                                  float* extras) {
    move_rows(x, rows, d, mean, scale, tile_rows, values, lengths, extras);
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

void move(const float* x, std::size_t rows, const Packed& packed, std::size_t tile_rows, Work& work) {
    move_singles(x, rows, packed.mean.size(), packed.mean.data(), packed.scale, tile_rows,
                 work.values.data(), work.lengths.data(), work.extras.data());
}

void move(const double* x, std::size_t rows, const Packed& packed, std::size_t tile_rows, Work& work) {
    move_doubles(x, rows, packed.mean.size(), packed.mean.data(), packed.scale, tile_rows,
                 work.values.data(), work.lengths.data(), work.extras.data());
}

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
    const std::size_t tile_rows = rows_of(form);
    move(x, rows, packed, tile_rows, work);
    const Tile tile{work.values.data(), work.lengths.data(), work.extras.data()};
    score_tile(form, tile, packed.members, work.which.data(), work.doubts.data());
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

}  // namespace

std::size_t label_block(const CenterTable& table, const LabelledBlock& block, int threads, Form form) {
    const Packed packed(table, block.d);
    const Form chosen = with_fma(form);
    const std::size_t step = rows_of(chosen);
    const auto tiles = static_cast<std::ptrdiff_t>((block.n + step - 1) / step);
    // Allocated here, where an exception can propagate.
    const std::size_t wanted = std::max<std::size_t>(
        1, std::min(static_cast<std::size_t>(threads), static_cast<std::size_t>(tiles)));
    std::vector<Work> workers(wanted, Work(packed, block.d));
    std::atomic<std::size_t> taken{0};
    std::size_t summed = 0;
#pragma omp parallel default(none) num_threads(static_cast<int>(wanted)) reduction(+ : summed) \
    shared(table, block, packed, workers, taken, tiles) firstprivate(step, chosen)
    {
        Work& work = workers[taken.fetch_add(1)];
#pragma omp for schedule(dynamic, 16)
        for (std::ptrdiff_t t = 0; t < tiles; ++t) {
            const std::size_t first = static_cast<std::size_t>(t) * step;
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
