#include "simplex/projection.h"

#include <algorithm>
#include <vector>

#include "base/clones.h"
#include "base/pack.h"

namespace conclust {

namespace {

// Four rows at once, the lanes of packs: `rows` holds their first entries, then their second ones, and so on.
// Overwritten with their projections.
CONCLUST_INLINE void project_four(double* rows, const double* scale, std::size_t k) {
    const Pack zero = spread(0.0);
    Pack top = load(rows);
    Pack largest = spread(scale[0]);  // its price
    for (std::size_t c = 1; c < k; ++c) {
        const Pack v = load(rows + c * pack_lanes);
        largest = where_less(top, v, spread(scale[c]), largest);
        top = where_less(top, v, v, top);
    }
    for (std::size_t c = 0; c < k; ++c) {
        // Adding a constant to a row changes nothing; with the largest at 0, sums keep their digits.
        store(rows + c * pack_lanes, load(rows + c * pack_lanes) - top);
    }
    // theta starts at its value for the largest entry alone. It rises as long as values fall below it.
    Pack theta = spread(-1.0) / largest;
    Pack above = spread(static_cast<double>(k + 1));
    for (bool moving = true; moving;) {
        Pack sum = zero;
        Pack price = zero;
        Pack count = zero;
        for (std::size_t c = 0; c < k; ++c) {
            const Pack v = load(rows + c * pack_lanes);
            const Pack s = spread(scale[c]);
            sum += where_less(theta, v, s * v, zero);
            price += where_less(theta, v, s, zero);
            count += where_less(theta, v, spread(1.0), zero);
        }
        // A row with as many again, or more by rounding, is done: its numbers repeat.
        theta = where_less(count, above, (sum - spread(1.0)) / price, theta);
        double fewer[pack_lanes];
        store(fewer, where_less(count, above, spread(1.0), zero));
        moving = fewer[0] + fewer[1] + fewer[2] + fewer[3] > 0.0;
        above = where_less(count, above, count, above);
    }
    Pack total = zero;
    for (std::size_t c = 0; c < k; ++c) {
        const Pack over = load(rows + c * pack_lanes) - theta;
        const Pack x = spread(scale[c]) * where_less(over, zero, zero, over);
        store(rows + c * pack_lanes, x);
        total += x;
    }
    for (std::size_t c = 0; c < k; ++c) {
        store(rows + c * pack_lanes, load(rows + c * pack_lanes) / total);  // of rounding
    }
}

CONCLUST_CLONES void project_all(const double* V, const double* scale, std::size_t n, std::size_t k,
                                 double* four, double* X) {
    for (std::size_t i = 0; i < n; i += pack_lanes) {
        for (std::size_t r = 0; r < pack_lanes; ++r) {
            const double* v = V + std::min(i + r, n - 1) * k;
            for (std::size_t c = 0; c < k; ++c) {
                four[c * pack_lanes + r] = v[c];
            }
        }
        project_four(four, scale, k);
        for (std::size_t r = 0; r < pack_lanes && i + r < n; ++r) {
            for (std::size_t c = 0; c < k; ++c) {
                X[(i + r) * k + c] = four[c * pack_lanes + r];
            }
        }
    }
}

// The sum of up to 128 numbers in the order of NumPy's; more are halved.
double pairwise_sum(const double* x, std::size_t n) {
    if (n < 8) {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            sum += x[i];
        }
        return sum;
    }
    if (n > 128) {
        const std::size_t half = n / 2 - n / 2 % 8;
        return pairwise_sum(x, half) + pairwise_sum(x + half, n - half);
    }
    double r[8];
    std::copy_n(x, 8, r);
    std::size_t i = 8;
    for (; i < n - n % 8; i += 8) {
        for (std::size_t j = 0; j < 8; ++j) {
            r[j] += x[i + j];
        }
    }
    double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; ++i) {
        sum += x[i];
    }
    return sum;
}

}  // namespace

void lower_rows(std::span<double> rows, std::span<const double> add, std::span<double> top) {
    const std::size_t k = add.size();
    for (std::size_t i = 0; i < top.size(); ++i) {
        double* row = rows.data() + i * k;
        double most = row[0] + add[0];
        for (std::size_t c = 0; c < k; ++c) {
            row[c] += add[c];
            most = most < row[c] ? row[c] : most;
        }
        for (std::size_t c = 0; c < k; ++c) {
            row[c] -= most;
        }
        top[i] = most;
    }
}

void share_rows(std::span<double> rows, std::size_t k, std::span<double> sums) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
        double* row = rows.data() + i * k;
        sums[i] = pairwise_sum(row, k);
        for (std::size_t c = 0; c < k; ++c) {
            row[c] /= sums[i];
        }
    }
}

void project_rows(std::span<const double> V, std::span<const double> scale, std::span<double> X) {
    const std::size_t k = scale.size();
    std::vector<double> four(k * pack_lanes);
    project_all(V.data(), scale.data(), V.size() / k, k, four.data(), X.data());
}

bool largest_of_rows(const StridedRows& Y, std::span<std::int64_t> labels,
                     std::span<std::int64_t> first) {
    const std::size_t n = labels.size();
    const std::size_t k = first.size();
    std::fill(first.begin(), first.end(), static_cast<std::int64_t>(n));
    bool several = false;
    for (std::size_t i = 0; i < n; ++i) {
        const double* y = Y.first + static_cast<std::ptrdiff_t>(i) * Y.row;
        double largest = *y;
        std::size_t label = 0;
        bool again = false;
        for (std::size_t c = 1; c < k; ++c) {
            y += Y.column;
            const bool more = *y > largest;
            again = !more && (again || *y == largest);
            label = more ? c : label;
            largest = more ? *y : largest;
        }
        several |= again;
        labels[i] = static_cast<std::int64_t>(label);
        first[label] = std::min(first[label], static_cast<std::int64_t>(i));
    }
    return several;
}

}  // namespace conclust
