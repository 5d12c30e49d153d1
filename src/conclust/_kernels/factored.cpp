#include "factored.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "clones.h"
#include "codes.h"
#include "pack.h"

namespace conclust {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t lanes = 8;             // of every long floating sum
constexpr std::size_t blocks_per_round = 16;  // private copies; also the most threads that help
constexpr std::size_t rounds_per_sweep = 16;
constexpr std::size_t serial_limit = 16384;   // below, one block: plain Gauss-Seidel

// What one object contributes: its clusters (column of B, posterior, weight) and the groups that
// observed it.
struct Row {
    std::size_t n_clusters = 0;
    std::vector<std::int32_t> columns;
    std::vector<double> values;          // x; 1 when hard
    std::vector<double> weighted;        // w x; 1 when unit
    bool unit = false;                   // hard and unweighted: x = w = 1
    double self = 0.0;                   // sum w x^2
    std::size_t n_groups = 0;
    std::vector<std::int32_t> groups;
    std::vector<double> group_weights;
    double present = 0.0;                // sum of group_weights
    std::vector<double> dense;           // scratch: weight per group

    explicit Row(const FactoredInput& in)
        : columns(std::max<std::size_t>(in.m, 1)),
          values(in.m, 1.0),
          weighted(in.m, 1.0),
          groups(std::max(in.m, in.n_groups)),
          group_weights(std::max(in.m, in.n_groups), 1.0),
          dense(in.n_groups) {}

    void hold(std::size_t entries) {
        if (columns.size() < entries) {
            columns.resize(entries);
            values.resize(entries);
            weighted.resize(entries);
        }
    }
};

template <class Code>
CONCLUST_INLINE void read_presence(const FactoredInput& in, const Code* codes, Row& row) {
    if (in.n_groups == in.m && in.weights == nullptr) {
        std::size_t count = 0;
        for (std::size_t u = 0; u < in.m; ++u) {  // branch-free: presence is a coin toss
            row.groups[count] = in.group_of[u];
            count += codes[u] != missing_code<Code>;
        }
        row.n_groups = count;
        row.present = static_cast<double>(count);
        return;
    }
    row.n_groups = 0;
    row.present = 0.0;
    std::fill(row.dense.begin(), row.dense.end(), 0.0);
    for (std::size_t u = 0; u < in.m; ++u) {
        const double w = in.weights ? in.weights[u] : 1.0;
        row.dense[static_cast<std::size_t>(in.group_of[u])] += codes[u] != missing_code<Code> ? w : 0.0;
    }
    for (std::size_t g = 0; g < in.n_groups; ++g) {
        if (row.dense[g] > 0.0) {
            row.groups[row.n_groups] = static_cast<std::int32_t>(g);
            row.group_weights[row.n_groups] = row.dense[g];
            row.present += row.dense[g];
            ++row.n_groups;
        }
    }
}

template <class Code>
CONCLUST_INLINE void read_hard(const FactoredInput& in, const Code* codes, Row& row) {
    if (in.complete && row.unit) {
        for (std::size_t u = 0; u < in.m; ++u) {
            row.columns[u] = static_cast<std::int32_t>(in.offsets[u]) + static_cast<std::int32_t>(codes[u]);
        }
        row.n_clusters = in.m;
        row.self = static_cast<double>(in.m);
        return;
    }
    std::size_t count = 0;
    if (row.unit) {
        for (std::size_t u = 0; u < in.m; ++u) {
            row.columns[count] = static_cast<std::int32_t>(in.offsets[u]) + static_cast<std::int32_t>(codes[u]);
            count += codes[u] < first_reserved_code<Code>;
        }
        row.n_clusters = count;
        row.self = static_cast<double>(count);
        return;
    }
    double self = 0.0;
    for (std::size_t u = 0; u < in.m; ++u) {
        const bool labelled = codes[u] < first_reserved_code<Code>;
        row.columns[count] = static_cast<std::int32_t>(in.offsets[u]) + static_cast<std::int32_t>(codes[u]);
        row.weighted[count] = in.weights[u];
        self += labelled ? in.weights[u] : 0.0;
        count += labelled;
    }
    row.n_clusters = count;
    row.self = self;
}

template <class Code>
CONCLUST_INLINE void read_row(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
    const Code* codes = static_cast<const Code*>(in.codes) + i * in.m;
    row.unit = in.soft_starts == nullptr && in.weights == nullptr;
    if (in.complete && in.n_groups == 1 && row.unit) {
        row.n_groups = 1;
        row.groups[0] = 0;
        row.present = static_cast<double>(in.m);
        row.group_weights[0] = row.present;
    } else {
        read_presence(in, codes, row);
    }
    if (in.soft_starts == nullptr) {
        read_hard(in, codes, row);
        return;
    }
    const auto begin = static_cast<std::size_t>(in.soft_starts[i]);
    const auto end = static_cast<std::size_t>(in.soft_starts[i + 1]);
    row.hold(end - begin);
    row.n_clusters = end - begin;
    row.self = 0.0;
    for (std::size_t e = begin; e < end; ++e) {
        const double x = in.soft_values[e];
        const double wx = column_weights[in.soft_columns[e]] * x;
        row.columns[e - begin] = in.soft_columns[e];
        row.values[e - begin] = x;
        row.weighted[e - begin] = wx;
        row.self += wx * x;
    }
}

CONCLUST_CLONES
void read_row8(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
    read_row<std::uint8_t>(in, column_weights, i, row);
}

CONCLUST_CLONES
void read_row16(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
    read_row<std::uint16_t>(in, column_weights, i, row);
}

CONCLUST_CLONES
void read_row32(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
    read_row<std::uint32_t>(in, column_weights, i, row);
}

void read_any(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
    switch (in.code_bytes) {
        case 1: return read_row8(in, column_weights, i, row);
        case 2: return read_row16(in, column_weights, i, row);
        default: return read_row32(in, column_weights, i, row);
    }
}

enum class Mode { sweep, residual, assign };

// One block's work: objects [begin, end) against sums and grams.
struct Block {
    const FactoredInput* in;
    const double* column_weights;
    const double* group_sizes;
    std::size_t stride;
    std::size_t begin;
    std::size_t end;
    double* Y;       // of object 0
    double* sums;
    double* grams;
    double tol;         // gap per unit of evidence below which an object is left alone
    double negligible;  // or what it can lower F by
    Mode mode;
    // out
    double residual;
    double squares;  // change of the solver's squares_ and fourths_
    double fourths;
};

// Scratch of one object's programme. With the stride known it lies on the stack, where the compiler
// sees that it overlaps nothing; else it is allocated once a block.
template <int S>
struct Scratch {
    double H[S * S], d[S], q[S], z[S];
    Pack lane[4 * S / 4];
    explicit Scratch(std::size_t) {}
};

template <>
struct Scratch<0> {
    std::vector<double> memory;
    std::vector<Pack> packs;
    double *H, *d, *q, *z;
    Pack* lane;
    explicit Scratch(std::size_t s)
        : memory(s * s + 3 * s),
          packs(s),
          H(memory.data()),
          d(H + s * s),
          q(d + s),
          z(q + s),
          lane(packs.data()) {}
};

// The pair steps of the programme on the simplex: move mass from V to U, exactly.
template <int S>
CONCLUST_INLINE void pair_steps(const double* H, double* q, double* z, std::size_t stride, std::size_t k,
                                double stop, std::size_t most) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : stride;
    for (std::size_t step = 0; step < most; ++step) {
        std::size_t U = 0;
        std::size_t V = 0;
        double low = infinity;
        double high = -infinity;
        for (std::size_t c = 0; c < k; ++c) {
            if (q[c] < low) {
                low = q[c];
                U = c;
            }
            if (z[c] > 0.0 && q[c] > high) {
                high = q[c];
                V = c;
            }
        }
        const double gap = high - low;
        if (!(gap > stop)) {
            return;
        }
        const double curvature = H[U * s + U] + H[V * s + V] - 2.0 * H[U * s + V];
        double e = z[V];
        if (curvature * e > gap) {
            e = gap / curvature;
            z[V] -= e;
        } else {
            z[V] = 0.0;
        }
        z[U] += e;
        const double* HU = H + U * s;
        const double* HV = H + V * s;
        for (std::size_t c = 0; c < s; c += pack_lanes) {
            store(q + c, load(q + c) + spread(e) * (load(HU + c) - load(HV + c)));
        }
    }
}

// Adds z z' - y y' (rows of H) to the Grams, and z - y (d) to the sums, of one object.
template <int S>
CONCLUST_INLINE void move_sums(double* sums, double* grams, const Row& row, const double* H,
                               const double* d, std::size_t stride) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : stride;
    if (row.unit) {
        for (std::size_t e = 0; e < row.n_clusters; ++e) {
            double* t = sums + static_cast<std::size_t>(row.columns[e]) * s;
            for (std::size_t c = 0; c < s; c += pack_lanes) {
                store(t + c, load(t + c) + load(d + c));
            }
        }
    } else {
        for (std::size_t e = 0; e < row.n_clusters; ++e) {
            double* t = sums + static_cast<std::size_t>(row.columns[e]) * s;
            const Pack x = spread(row.values[e]);
            for (std::size_t c = 0; c < s; c += pack_lanes) {
                store(t + c, load(t + c) + x * load(d + c));
            }
        }
    }
    for (std::size_t g = 0; g < row.n_groups; ++g) {
        double* G = grams + static_cast<std::size_t>(row.groups[g]) * s * s;
        for (std::size_t c = 0; c < s * s; c += pack_lanes) {
            store(G + c, load(G + c) + load(H + c));
        }
    }
}

// S > 0: the stride is known at compile time, so that rows live in registers.
template <int S>
CONCLUST_INLINE void visit(Block& block, Row& row) {
    const FactoredInput& in = *block.in;
    const std::size_t s = S ? static_cast<std::size_t>(S) : block.stride;
    const std::size_t packs = s / pack_lanes;
    const std::size_t k = in.k;
    Scratch<S> scratch(s);
    double* H = scratch.H;
    double* d = scratch.d;
    double* q = scratch.q;
    double* z = scratch.z;
    Pack* lane = scratch.lane;
    const bool own = block.mode != Mode::assign;  // the object itself is in the sums
    double residual = 0.0;
    double squares = 0.0;
    double fourths = 0.0;
    for (std::size_t i = block.begin; i < block.end; ++i) {
        read_any(in, block.column_weights, i, row);
        double* y = block.Y + i * s;
        double degree = 0.0;
        for (std::size_t g = 0; g < row.n_groups; ++g) {
            degree += row.group_weights[g] *
                      (block.group_sizes[static_cast<std::size_t>(row.groups[g])] - (own ? 1.0 : 0.0));
        }
        if (!(degree > 0.0)) {
            continue;  // no evidence about this object: it stays where it is
        }

        // b, over four lanes so that additions overlap; the order of summation is fixed.
        for (std::size_t c = 0; c < 4 * packs; ++c) {
            lane[c] = spread(0.0);
        }
        const std::int32_t* columns = row.columns.data();
        const std::size_t n_clusters = row.n_clusters;
        std::size_t e = 0;
        if (row.unit) {
            for (; e + 4 <= n_clusters; e += 4) {
                const double* t0 = block.sums + static_cast<std::size_t>(columns[e]) * s;
                const double* t1 = block.sums + static_cast<std::size_t>(columns[e + 1]) * s;
                const double* t2 = block.sums + static_cast<std::size_t>(columns[e + 2]) * s;
                const double* t3 = block.sums + static_cast<std::size_t>(columns[e + 3]) * s;
                for (std::size_t c = 0; c < packs; ++c) {
                    lane[c] += load(t0 + 4 * c);
                    lane[packs + c] += load(t1 + 4 * c);
                    lane[2 * packs + c] += load(t2 + 4 * c);
                    lane[3 * packs + c] += load(t3 + 4 * c);
                }
            }
            for (; e < n_clusters; ++e) {
                const double* t = block.sums + static_cast<std::size_t>(columns[e]) * s;
                for (std::size_t c = 0; c < packs; ++c) {
                    lane[c] += load(t + 4 * c);
                }
            }
        } else {
            for (; e < n_clusters; ++e) {
                const double* t = block.sums + static_cast<std::size_t>(columns[e]) * s;
                const Pack wx = spread(row.weighted[e]);
                for (std::size_t c = 0; c < packs; ++c) {
                    lane[c] += wx * load(t + 4 * c);
                }
            }
        }
        const Pack self = spread(own ? row.self : 0.0);
        for (std::size_t c = 0; c < packs; ++c) {  // q = -b
            const Pack b = (lane[c] + lane[packs + c]) + (lane[2 * packs + c] + lane[3 * packs + c]);
            store(q + 4 * c, self * load(y + 4 * c) - b);
        }

        // H = sum_g w_g G_g - p y y'
        const double* first = block.grams + static_cast<std::size_t>(row.groups[0]) * s * s;
        for (std::size_t c = 0; c < s * s; c += pack_lanes) {
            store(H + c, spread(row.group_weights[0]) * load(first + c));
        }
        for (std::size_t g = 1; g < row.n_groups; ++g) {
            const double* G = block.grams + static_cast<std::size_t>(row.groups[g]) * s * s;
            const Pack w = spread(row.group_weights[g]);
            for (std::size_t c = 0; c < s * s; c += pack_lanes) {
                store(H + c, load(H + c) + w * load(G + c));
            }
        }
        double norm = 0.0;
        if (own) {
            for (std::size_t a = 0; a < s; ++a) {
                const Pack scaled = spread(row.present * y[a]);
                for (std::size_t c = 0; c < s; c += pack_lanes) {
                    store(H + a * s + c, load(H + a * s + c) - scaled * load(y + c));
                }
                norm += y[a] * y[a];
            }
        }
        for (std::size_t c = 0; c < s; ++c) {
            z[c] = own ? y[c] : (c < k ? 1.0 / static_cast<double>(k) : 0.0);
        }
        for (std::size_t a = 0; a < k; ++a) {  // H is symmetric: q += H z by rows
            const Pack za = spread(z[a]);
            for (std::size_t c = 0; c < s; c += pack_lanes) {
                store(q + c, load(q + c) + za * load(H + a * s + c));
            }
        }
        double low = infinity;
        double high = -infinity;
        double mean = 0.0;
        for (std::size_t c = 0; c < k; ++c) {
            low = std::min(low, q[c]);
            high = std::max(high, z[c] > 0.0 ? q[c] : -infinity);
            mean += z[c] * q[c];
        }
        const double gap = high - low;
        residual = std::max(residual, 2.0 * gap / degree);
        const double enough = 0.5 * block.tol * degree;  // q is half the gradient
        if (block.mode == Mode::residual) {
            continue;
        }
        if (block.mode == Mode::assign) {
            pair_steps<S>(H, q, z, s, k, enough, 50 * k);
            for (std::size_t c = 0; c < s; ++c) {
                y[c] = z[c];
            }
            continue;
        }
        // By convexity the object can lower F by no more than 2 (q'z - min q).
        if (gap <= enough || 2.0 * (mean - low) <= block.negligible) {
            continue;
        }
        pair_steps<S>(H, q, z, s, k, std::max(0.02 * gap, 0.1 * enough), 6 * k);
        double after = 0.0;
        for (std::size_t c = 0; c < s; ++c) {
            d[c] = z[c] - y[c];
            after += z[c] * z[c];
        }
        for (std::size_t a = 0; a < s; ++a) {
            const Pack za = spread(z[a]);
            const Pack ya = spread(y[a]);
            for (std::size_t c = 0; c < s; c += pack_lanes) {
                store(H + a * s + c, za * load(z + c) - ya * load(y + c));
            }
        }
        move_sums<S>(block.sums, block.grams, row, H, d, s);
        squares += row.self * (after - norm);
        fourths += row.present * (after * after - norm * norm);
        for (std::size_t c = 0; c < s; ++c) {
            y[c] = z[c];
        }
    }
    block.residual = residual;
    block.squares = squares;
    block.fourths = fourths;
}

// One part of a rebuild: objects [begin, end) added to sums and grams.
struct Summing {
    const FactoredInput* in;
    const double* column_weights;
    std::size_t stride;
    std::size_t begin;
    std::size_t end;
    const double* Y;
    double* sums;
    double* grams;
    double* squares;  // squares, fourths, group sizes
};

template <int S>
CONCLUST_INLINE void sum_rows(const Summing& part, Row& row) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : part.stride;
    Scratch<S> scratch(s);
    for (std::size_t i = part.begin; i < part.end; ++i) {
        read_any(*part.in, part.column_weights, i, row);
        const double* y = part.Y + i * s;
        double norm = 0.0;
        for (std::size_t a = 0; a < s; ++a) {
            const Pack ya = spread(y[a]);
            for (std::size_t c = 0; c < s; c += pack_lanes) {
                store(scratch.H + a * s + c, ya * load(y + c));
            }
            scratch.d[a] = y[a];
            norm += y[a] * y[a];
        }
        move_sums<S>(part.sums, part.grams, row, scratch.H, scratch.d, s);
        for (std::size_t g = 0; g < row.n_groups; ++g) {
            part.squares[2 + static_cast<std::size_t>(row.groups[g])] += 1.0;
        }
        part.squares[0] += row.self * norm;
        part.squares[1] += row.present * norm * norm;
    }
}

#define CONCLUST_VISIT(S)                                                                      \
    CONCLUST_CLONES void visit_##S(Block& block, Row& row) { visit<S>(block, row); }           \
    CONCLUST_CLONES void sum_##S(const Summing& part, Row& row) { sum_rows<S>(part, row); }

CONCLUST_VISIT(4)
CONCLUST_VISIT(8)
CONCLUST_VISIT(12)
CONCLUST_VISIT(16)
CONCLUST_VISIT(0)

void sum_any(const Summing& part, Row& row) {
    switch (part.stride) {
        case 4: return sum_4(part, row);
        case 8: return sum_8(part, row);
        case 12: return sum_12(part, row);
        case 16: return sum_16(part, row);
        default: return sum_0(part, row);
    }
}

void visit_any(Block& block, Row& row) {
    switch (block.stride) {
        case 4: return visit_4(block, row);
        case 8: return visit_8(block, row);
        case 12: return visit_12(block, row);
        case 16: return visit_16(block, row);
        default: return visit_0(block, row);
    }
}

// Weighted sum of squares over a fixed number of lanes.
double lane_sum(const double* values, std::size_t count) {
    std::array<double, lanes> sum{};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (std::size_t j = 0; j < lanes; ++j) {
            sum[j] += values[i + j] * values[i + j];
        }
    }
    double total = 0.0;
    for (; i < count; ++i) {
        total += values[i] * values[i];
    }
    for (const double part : sum) {
        total += part;
    }
    return total;
}

double lane_dot(const double* a, const double* b, std::size_t count) {
    std::array<double, lanes> sum{};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (std::size_t j = 0; j < lanes; ++j) {
            sum[j] += a[i + j] * b[i + j];
        }
    }
    double total = 0.0;
    for (; i < count; ++i) {
        total += a[i] * b[i];
    }
    for (const double part : sum) {
        total += part;
    }
    return total;
}

// The step in [0, 1] that minimises c1 e + c2 e^2 + c3 e^3 + c4 e^4.
double best_step(double c1, double c2, double c3, double c4) {
    const auto value = [=](double e) { return e * (c1 + e * (c2 + e * (c3 + e * c4))); };
    const auto slope = [=](double e) { return c1 + e * (2.0 * c2 + e * (3.0 * c3 + e * 4.0 * c4)); };
    double best = 0.0;
    constexpr int pieces = 64;  // a cubic slope has at most three roots: bracket them, then bisect
    for (int p = 0; p < pieces; ++p) {
        double left = static_cast<double>(p) / pieces;
        double right = static_cast<double>(p + 1) / pieces;
        if (slope(left) < 0.0 && slope(right) >= 0.0) {
            for (int halving = 0; halving < 60; ++halving) {
                const double middle = 0.5 * (left + right);
                (slope(middle) < 0.0 ? left : right) = middle;
            }
            if (value(left) < value(best)) {
                best = left;
            }
        }
    }
    return value(1.0) < value(best) ? 1.0 : best;
}

std::size_t block_size(std::size_t n) {
    if (n <= serial_limit) {
        return n;
    }
    const std::size_t per_round = (n + rounds_per_sweep - 1) / rounds_per_sweep;
    return (per_round + blocks_per_round - 1) / blocks_per_round;
}

}  // namespace

FactoredSolver::FactoredSolver(const FactoredInput& input)
    : in_(input),
      stride_(padded(input.k)),
      n_columns_(static_cast<std::size_t>(input.offsets[input.m])),
      sums_(n_columns_ * stride_),
      grams_(input.n_groups * stride_ * stride_),
      group_sizes_(input.n_groups),
      group_weights_(input.n_groups),
      column_weights_(n_columns_, 1.0) {
    for (std::size_t u = 0; u < in_.m; ++u) {
        const double w = in_.weights ? in_.weights[u] : 1.0;
        group_weights_[static_cast<std::size_t>(in_.group_of[u])] += w;
        for (auto t = in_.offsets[u]; t < in_.offsets[u + 1]; ++t) {
            column_weights_[static_cast<std::size_t>(t)] = w;
        }
    }
}

std::size_t FactoredSolver::padded(std::size_t k) {
    return (k + 3) / 4 * 4;
}

void FactoredSolver::block_sums(const double* Y, std::size_t begin, std::size_t end, double* sums,
                                double* grams, double* squares) const {
    Row row(in_);
    Summing part{&in_, column_weights_.data(), stride_, begin, end, Y, sums, grams, squares};
    sum_any(part, row);
}

void FactoredSolver::rebuild(const double* Y, int threads) {
    // As many partial sums as a round has blocks: fixed by n, merged in order.
    const std::size_t parts = in_.n <= serial_limit ? 1 : blocks_per_round;
    const std::size_t chunk = (in_.n + parts - 1) / parts;
    const std::size_t width = sums_.size() + grams_.size() + 2 + in_.n_groups;
    std::vector<double> partial(parts * width, 0.0);
    const auto n_parts = static_cast<std::ptrdiff_t>(parts);
#pragma omp parallel for num_threads(threads) schedule(static) default(none) \
    shared(partial, Y, chunk, width, n_parts)
    for (std::ptrdiff_t p = 0; p < n_parts; ++p) {
        const std::size_t begin = std::min(in_.n, static_cast<std::size_t>(p) * chunk);
        const std::size_t end = std::min(in_.n, begin + chunk);
        double* base = partial.data() + static_cast<std::size_t>(p) * width;
        block_sums(Y, begin, end, base, base + sums_.size(), base + sums_.size() + grams_.size());
    }
    const auto merge = [&](std::vector<double>& into, std::size_t at) {
        for (std::size_t c = 0; c < into.size(); ++c) {
            double total = 0.0;
            for (std::size_t p = 0; p < parts; ++p) {
                total += partial[p * width + at + c];
            }
            into[c] = total;
        }
    };
    merge(sums_, 0);
    merge(grams_, sums_.size());
    std::vector<double> squares(2);
    merge(squares, sums_.size() + grams_.size());
    squares_ = squares[0];
    fourths_ = squares[1];
    merge(group_sizes_, sums_.size() + grams_.size() + 2);
}

double FactoredSolver::objective() const {
    double grams = 0.0;
    for (std::size_t g = 0; g < in_.n_groups; ++g) {
        grams += group_weights_[g] * lane_sum(grams_.data() + g * stride_ * stride_, stride_ * stride_);
    }
    double sums = 0.0;
    for (std::size_t u = 0; u < in_.m; ++u) {
        const auto begin = static_cast<std::size_t>(in_.offsets[u]) * stride_;
        const auto end = static_cast<std::size_t>(in_.offsets[u + 1]) * stride_;
        sums += (in_.weights ? in_.weights[u] : 1.0) * lane_sum(sums_.data() + begin, end - begin);
    }
    return 0.5 * (grams - fourths_) - (sums - squares_);
}

SweepResult FactoredSolver::sweep(double* Y, double tol, double negligible, int threads) {
    const std::size_t size = block_size(in_.n);
    SweepResult result{0.0, 0.0, 0};
    const double start = objective();
    if (size == in_.n) {
        Row row(in_);
        Block block{&in_, column_weights_.data(), group_sizes_.data(), stride_, 0, in_.n, Y,
                    sums_.data(), grams_.data(), tol, negligible, Mode::sweep, 0.0, 0.0, 0.0};
        visit_any(block, row);
        squares_ += block.squares;
        fourths_ += block.fourths;
        result.residual = block.residual;
        result.change = objective() - start;
        return result;
    }
    const std::size_t width = sums_.size() + grams_.size();
    std::vector<double> copies(blocks_per_round * width);
    std::vector<Block> blocks(blocks_per_round);
    std::vector<double> before;
    double current = start;
    for (std::size_t round = 0; round * size * blocks_per_round < in_.n; ++round) {
        const std::size_t first = round * size * blocks_per_round;
        const std::size_t last = std::min(in_.n, first + size * blocks_per_round);
        before.assign(Y + first * stride_, Y + last * stride_);
        const auto n_blocks = static_cast<std::ptrdiff_t>(blocks_per_round);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) default(none) \
    shared(blocks, copies, Y, first, last, size, width, tol, negligible, n_blocks)
        for (std::ptrdiff_t p = 0; p < n_blocks; ++p) {
            const auto at = static_cast<std::size_t>(p);
            double* copy = copies.data() + at * width;
            std::copy(sums_.begin(), sums_.end(), copy);
            std::copy(grams_.begin(), grams_.end(), copy + sums_.size());
            Row row(in_);
            const std::size_t begin = std::min(last, first + at * size);
            blocks[at] = Block{&in_, column_weights_.data(), group_sizes_.data(), stride_, begin,
                               std::min(last, begin + size), Y, copy, copy + sums_.size(), tol,
                               negligible, Mode::sweep, 0.0, 0.0, 0.0};
            visit_any(blocks[at], row);
        }
        const auto n_values = static_cast<std::ptrdiff_t>(width);
#pragma omp parallel for num_threads(threads) schedule(static) default(none) \
    shared(copies, width, n_values)
        for (std::ptrdiff_t c = 0; c < n_values; ++c) {
            const auto at = static_cast<std::size_t>(c);
            double& value = at < sums_.size() ? sums_[at] : grams_[at - sums_.size()];
            double moved = 0.0;
            for (std::size_t p = 0; p < blocks_per_round; ++p) {
                moved += copies[p * width + at] - value;
            }
            value += moved;
        }
        for (const Block& block : blocks) {
            squares_ += block.squares;
            fourths_ += block.fourths;
            result.residual = std::max(result.residual, block.residual);
        }
        double now = objective();
        if (now > current) {
            shorten(Y, before.data(), first, last);
            ++result.shortened;
            now = objective();
        }
        current = now;
    }
    result.change = current - start;
    return result;
}

// Objects [begin, end) moved from `before` to Y and the sums with them, and F rose. Go back along
// the step to where F, an exact quartic in the step length, is least.
void FactoredSolver::shorten(double* Y, const double* before, std::size_t begin, std::size_t end) {
    const std::size_t s = stride_;
    const std::size_t n_sums = sums_.size();
    const std::size_t n_grams = grams_.size();
    // Along y + e d: the sums change by e A, the Grams by e P + e^2 Q.
    std::vector<double> A(n_sums, 0.0), P(n_grams, 0.0), Q(n_grams, 0.0);
    double sq1 = 0.0, sq2 = 0.0;                      // squares: sq1 e + sq2 e^2
    double f1 = 0.0, f2 = 0.0, f3 = 0.0, f4 = 0.0;    // fourths
    Row row(in_);
    std::vector<double> d(s);
    for (std::size_t i = begin; i < end; ++i) {
        const double* y = before + (i - begin) * s;
        double yy = 0.0, yd = 0.0, dd = 0.0;
        for (std::size_t c = 0; c < s; ++c) {
            d[c] = Y[i * s + c] - y[c];
            yy += y[c] * y[c];
            yd += y[c] * d[c];
            dd += d[c] * d[c];
        }
        if (dd == 0.0) {
            continue;
        }
        read_any(in_, column_weights_.data(), i, row);
        for (std::size_t e = 0; e < row.n_clusters; ++e) {
            const double x = row.unit ? 1.0 : row.values[e];
            double* a = A.data() + static_cast<std::size_t>(row.columns[e]) * s;
            for (std::size_t c = 0; c < s; ++c) {
                a[c] += x * d[c];
            }
        }
        for (std::size_t g = 0; g < row.n_groups; ++g) {
            const auto at = static_cast<std::size_t>(row.groups[g]) * s * s;
            for (std::size_t a = 0; a < s; ++a) {
                for (std::size_t c = 0; c < s; ++c) {
                    P[at + a * s + c] += y[a] * d[c] + d[a] * y[c];
                    Q[at + a * s + c] += d[a] * d[c];
                }
            }
        }
        sq1 += 2.0 * row.self * yd;
        sq2 += row.self * dd;
        // |y + e d|^4 = (yy + 2 e yd + e^2 dd)^2
        f1 += row.present * 4.0 * yy * yd;
        f2 += row.present * (4.0 * yd * yd + 2.0 * yy * dd);
        f3 += row.present * 4.0 * yd * dd;
        f4 += row.present * dd * dd;
    }
    // The sums as they were before the step.
    for (std::size_t c = 0; c < n_sums; ++c) {
        sums_[c] -= A[c];
    }
    for (std::size_t c = 0; c < n_grams; ++c) {
        grams_[c] -= P[c] + Q[c];
    }
    squares_ -= sq1 + sq2;
    fourths_ -= f1 + f2 + f3 + f4;
    double c1 = sq1 - 0.5 * f1, c2 = sq2 - 0.5 * f2, c3 = -0.5 * f3, c4 = -0.5 * f4;
    for (std::size_t g = 0; g < in_.n_groups; ++g) {
        const double w = group_weights_[g];
        const std::size_t at = g * s * s;
        const double* G = grams_.data() + at;
        c1 += w * lane_dot(G, P.data() + at, s * s);
        c2 += w * (lane_dot(G, Q.data() + at, s * s) + 0.5 * lane_sum(P.data() + at, s * s));
        c3 += w * lane_dot(P.data() + at, Q.data() + at, s * s);
        c4 += 0.5 * w * lane_sum(Q.data() + at, s * s);
    }
    for (std::size_t u = 0; u < in_.m; ++u) {
        const double w = in_.weights ? in_.weights[u] : 1.0;
        const auto from = static_cast<std::size_t>(in_.offsets[u]) * s;
        const auto count = static_cast<std::size_t>(in_.offsets[u + 1]) * s - from;
        c1 -= 2.0 * w * lane_dot(sums_.data() + from, A.data() + from, count);
        c2 -= w * lane_sum(A.data() + from, count);
    }
    const double e = best_step(c1, c2, c3, c4);
    for (std::size_t c = 0; c < n_sums; ++c) {
        sums_[c] += e * A[c];
    }
    for (std::size_t c = 0; c < n_grams; ++c) {
        grams_[c] += e * (P[c] + e * Q[c]);
    }
    squares_ += e * (sq1 + e * sq2);
    fourths_ += e * (f1 + e * (f2 + e * (f3 + e * f4)));
    for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t c = 0; c < s; ++c) {
            const double y = before[(i - begin) * s + c];
            Y[i * s + c] = y + e * (Y[i * s + c] - y);
        }
    }
}

namespace {

// Independent objects: any split gives the same bits.
void visit_all(const Block& prototype, std::size_t n, int threads, double* residual) {
    constexpr std::size_t chunk = 1024;
    const auto n_chunks = static_cast<std::ptrdiff_t>((n + chunk - 1) / chunk);
    double worst = 0.0;
#pragma omp parallel num_threads(threads) default(none) shared(prototype, n, n_chunks, worst)
    {
        Row row(*prototype.in);
        double mine = 0.0;
#pragma omp for schedule(dynamic, 4)
        for (std::ptrdiff_t c = 0; c < n_chunks; ++c) {
            Block block = prototype;
            block.begin = static_cast<std::size_t>(c) * chunk;
            block.end = std::min(n, block.begin + chunk);
            visit_any(block, row);
            mine = std::max(mine, block.residual);
        }
#pragma omp critical
        worst = std::max(worst, mine);
    }
    *residual = worst;
}

}  // namespace

double FactoredSolver::residual(double* Y, int threads) {
    const Block block{&in_, column_weights_.data(), group_sizes_.data(), stride_, 0, in_.n, Y,
                      sums_.data(), grams_.data(), 0.0, 0.0, Mode::residual, 0.0, 0.0, 0.0};
    double worst = 0.0;
    visit_all(block, in_.n, threads, &worst);
    return worst;
}

void FactoredSolver::assign(double* Y, double tol, int threads) {
    const Block block{&in_, column_weights_.data(), group_sizes_.data(), stride_, 0, in_.n, Y,
                      sums_.data(), grams_.data(), tol, 0.0, Mode::assign, 0.0, 0.0, 0.0};
    double ignored = 0.0;
    visit_all(block, in_.n, threads, &ignored);
}

void FactoredSolver::take_sums(const FactoredSolver& other) {
    sums_ = other.sums_;
    grams_ = other.grams_;
    group_sizes_ = other.group_sizes_;
}

namespace {

template <class Code>
CONCLUST_INLINE void sign_presence(const Code* codes, std::size_t n, std::size_t m, std::uint64_t* signature) {
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t h = (i + 1) * 0x9e3779b97f4a7c15ull;  // splitmix64 of the object
        h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
        h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
        h ^= h >> 31;
        const Code* row = codes + i * m;
        for (std::size_t u = 0; u < m; ++u) {
            signature[u] += row[u] == missing_code<Code> ? h : 0;
        }
    }
}

CONCLUST_CLONES
void sign_presence8(const std::uint8_t* codes, std::size_t n, std::size_t m, std::uint64_t* signature) {
    sign_presence(codes, n, m, signature);
}

}  // namespace

void presence_signatures(const void* codes, int code_bytes, std::size_t n, std::size_t m,
                         std::uint64_t* signature) {
    std::fill(signature, signature + m, std::uint64_t{0});
    switch (code_bytes) {
        case 1: return sign_presence8(static_cast<const std::uint8_t*>(codes), n, m, signature);
        case 2: return sign_presence(static_cast<const std::uint16_t*>(codes), n, m, signature);
        default: return sign_presence(static_cast<const std::uint32_t*>(codes), n, m, signature);
    }
}

}  // namespace conclust
