#include "pair_objective/factored/step.h"

#include <algorithm>
#include <vector>

#include "base/clones.h"
#include "pair_objective/factored/grams.h"

namespace conclust {
namespace {

// first = y d' + d y', second = d d': upper triangles, the two numbers of a Gram left alone.
CONCLUST_CLONES
void products(const double* y, const double* d, std::size_t k, double* first, double* second) {
    for (std::size_t a = 0; a < k; ++a) {
        const std::size_t row = gram_row(a, k);
        for (std::size_t c = a; c < k; ++c) {
            first[row + c - a] = y[a] * d[c] + d[a] * y[c];
            second[row + c - a] = d[a] * d[c];
        }
    }
}

}  // namespace

double squares_along(const Powers& powers, double e) {
    return e * (powers[square_1] + e * powers[square_2]);
}

double fourths_along(const Powers& powers, double e) {
    return e *
           (powers[fourth_1] + e * (powers[fourth_2] + e * (powers[fourth_3] + e * powers[fourth_4])));
}

void step_block(const Stepping& part) {
    const FactoredInput& in = *part.in;
    const std::size_t s = part.stride;
    const std::size_t k = in.k;
    const std::size_t width = gram_width(k);
    Row row(in);
    Entries entries = all_entries(*part.presence);
    std::vector<double> d(s), first(width, 0.0), second(width, 0.0);
    Powers& powers = *part.powers;
    // Complete hard labels need only their number, and not A.
    const bool known = part.sums == nullptr && in.labels.complete && !in.labels.soft;
    if (known) {
        row.self = 0.0;
        for (std::size_t u = 0; u < in.labels.m; ++u) {
            row.self += in.labels.weight(u);
        }
    }
    for (std::size_t i = part.begin; i < part.end; ++i) {
        const double* y = part.before + i * s;
        const double* z = part.after + i * s;
        double yy = 0.0, yd = 0.0, dd = 0.0;
        for (std::size_t c = 0; c < s; ++c) {
            d[c] = z[c] - y[c];
            yy += y[c] * y[c];
            yd += y[c] * d[c];
            dd += d[c] * d[c];
        }
        if (dd == 0.0) {
            continue;
        }
        if (!known) {
            read_row(in, part.column_weights, i, row);
        }
        if (part.sums != nullptr) {
            for (std::size_t e = 0; e < row.n_clusters; ++e) {
                const double x = row.unit ? 1.0 : row.values[e];
                double* a = part.sums + static_cast<std::size_t>(row.columns[e]) * s;
                for (std::size_t c = 0; c < s; ++c) {
                    a[c] += x * d[c];
                }
            }
        }
        read_entries(in, *part.presence, i, entries);
        double present = 0.0;
        for (const std::int32_t entry : entries) {
            present += part.fields[static_cast<std::size_t>(entry) * width + gram_weight(k)];
        }
        products(y, d.data(), k, first.data(), second.data());
        move_entries(part.first, width, entries, first.data());
        move_entries(part.second, width, entries, second.data());
        powers[square_1] += 2.0 * row.self * yd;
        powers[square_2] += row.self * dd;
        // |y + e d|^4 = (yy + 2 e yd + e^2 dd)^2
        powers[fourth_1] += present * 4.0 * yy * yd;
        powers[fourth_2] += present * (4.0 * yd * yd + 2.0 * yy * dd);
        powers[fourth_3] += present * 4.0 * yd * dd;
        powers[fourth_4] += present * dd * dd;
    }
}

double best_step(const std::array<double, 4>& c, double most) {
    const auto value = [&](double e) { return e * (c[0] + e * (c[1] + e * (c[2] + e * c[3]))); };
    const auto slope = [&](double e) {
        return c[0] + e * (2.0 * c[1] + e * (3.0 * c[2] + e * 4.0 * c[3]));
    };
    double best = 0.0;
    constexpr int pieces = 64;  // a cubic slope has at most three roots: bracket them, then bisect
    for (int p = 0; p < pieces; ++p) {
        double left = most * p / pieces;
        double right = most * (p + 1) / pieces;
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
    return value(most) < value(best) ? most : best;
}

}  // namespace conclust
