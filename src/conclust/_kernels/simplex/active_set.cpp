#include "simplex/active_set.h"

#include <algorithm>
#include <cmath>

#include "base/clones.h"

namespace conclust {
namespace {

// A pivot below this share of the largest may be a rounding error, and is raised to that share:
// along a cluster with almost no mass the step is then too short.
constexpr double smallest_pivot = 1e-11;
constexpr int most_at_once = 12;
// Maximum number of rounds without fewer wrong clusters.
constexpr int most_patience = 2;

// Eliminates the rows of a symmetric matrix (n x n, rows of `ld`, lower half) and of the right side
// below it. False if all pivots are 0. Then row i holds the multipliers, the diagonal the pivots.
CONCLUST_CLONES bool eliminate(double* rows, std::size_t n, std::size_t ld, double* column) {
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        largest = std::max(largest, rows[i * ld + i]);
    }
    for (std::size_t j = 0; j < n; ++j) {
        const double pivot = std::max(rows[j * ld + j], smallest_pivot * largest);
        if (!(pivot > 0.0)) {
            return false;
        }
        const double inverse = 1.0 / pivot;
        for (std::size_t i = j + 1; i <= n; ++i) {
            column[i] = rows[i * ld + j];
        }
        for (std::size_t i = j + 1; i <= n; ++i) {
            const double share = column[i] * inverse;
            rows[i * ld + j] = share;
            const std::size_t end = std::min(i + 1, n);
            for (std::size_t c = j + 1; c < end; ++c) {
                rows[i * ld + c] -= share * column[c];
            }
        }
    }
    return true;
}

}  // namespace

ActiveSet::ActiveSet(std::size_t k)
    : k_(k), list_(k), free_(k), q_(k), z_(k), d_(k), lower_((k + 1) * (k + 1)), column_(k + 1) {}

std::size_t ActiveSet::heaviest() const {
    return static_cast<std::size_t>(std::max_element(z_.begin(), z_.end()) - z_.begin());
}

void ActiveSet::begin(const double* g, const double* z) {
    double mean = 0.0;
    for (std::size_t c = 0; c < k_; ++c) {
        mean += z[c] * g[c];
    }
    for (std::size_t c = 0; c < k_; ++c) {
        q_[c] = g[c];
        z_[c] = z[c];
        free_[c] = z[c] > 0.0 || g[c] < mean;
    }
}

// The heaviest cluster compensates all others, so that one cluster along which H is 0 does no harm.
bool ActiveSet::direction(const double* H, std::size_t stride, std::size_t heaviest) {
    std::size_t n = 0;
    for (std::size_t c = 0; c < k_; ++c) {
        d_[c] = 0.0;
        if (free_[c] && c != heaviest) {
            list_[n++] = c;
        }
    }
    const std::size_t ld = k_ + 1;
    const double* at_heaviest = H + heaviest * stride;
    for (std::size_t a = 0; a < n; ++a) {
        const std::size_t i = list_[a];
        const double* row = H + i * stride;
        const double own = at_heaviest[heaviest] - at_heaviest[i];
        for (std::size_t b = 0; b <= a; ++b) {
            lower_[a * ld + b] = (row[list_[b]] - at_heaviest[list_[b]]) + own;
        }
        lower_[n * ld + a] = q_[heaviest] - q_[i];
    }
    if (!eliminate(lower_.data(), n, ld, column_.data())) {
        return false;
    }
    // The right side's row is already eliminated: the other half remains.
    double moved = 0.0;
    for (std::size_t a = n; a-- > 0;) {
        double x = lower_[n * ld + a];
        for (std::size_t b = a + 1; b < n; ++b) {
            x -= lower_[b * ld + a] * d_[list_[b]];
        }
        d_[list_[a]] = x;
        moved += x;
    }
    d_[heaviest] = -moved;
    return true;
}

void ActiveSet::step(const double* H, std::size_t stride, double t) {
    for (std::size_t c = 0; c < k_; ++c) {
        const double step = t * d_[c];
        if (step != 0.0) {
            z_[c] += step;
            const double* row = H + c * stride;
            for (std::size_t e = 0; e < k_; ++e) {
                q_[e] += step * row[e];
            }
        }
    }
}

bool ActiveSet::all_at_once(const double* H, std::size_t stride, double tie) {
    std::size_t fewest = k_ + 1;
    int patience = most_patience;
    for (int round = 0; round < most_at_once; ++round) {
        // Held clusters give up their mass.
        bool any = false;
        for (std::size_t c = 0; c < k_; ++c) {
            d_[c] = free_[c] ? 0.0 : -z_[c];
            any = any || d_[c] != 0.0;
        }
        const std::size_t main = heaviest();
        if (any) {
            for (std::size_t c = 0; c < k_; ++c) {
                d_[main] -= free_[c] ? 0.0 : d_[c];
            }
            step(H, stride, 1.0);
        }
        if (!direction(H, stride, main)) {
            return false;
        }
        step(H, stride, 1.0);
        const double level = q_[main] - tie;
        std::size_t wrong = 0;
        for (std::size_t c = 0; c < k_; ++c) {
            if (free_[c] ? z_[c] < 0.0 : q_[c] < level) {
                free_[c] = !free_[c];
                ++wrong;
            }
        }
        if (wrong == 0) {
            return true;
        }
        patience = wrong < fewest ? most_patience : patience - 1;
        if (patience < 0) {
            return false;
        }
        fewest = std::min(fewest, wrong);
    }
    return false;
}

bool ActiveSet::one_at_a_time(const double* H, std::size_t stride, double tie) {
    for (std::size_t round = 0; round < 3 * k_ + 3; ++round) {
        const std::size_t main = heaviest();
        if (!direction(H, stride, main)) {
            return false;
        }
        double t = 1.0;
        std::size_t blocks = k_;
        for (std::size_t c = 0; c < k_; ++c) {
            if (d_[c] < 0.0 && z_[c] < -d_[c] * t) {
                t = z_[c] / -d_[c];
                blocks = c;
            }
        }
        step(H, stride, t);
        if (blocks < k_) {
            z_[blocks] = 0.0;
            free_[blocks] = false;
            continue;
        }
        std::size_t best = k_;
        double low = q_[main] - tie;
        for (std::size_t c = 0; c < k_; ++c) {
            if (!free_[c] && q_[c] < low) {
                low = q_[c];
                best = c;
            }
        }
        if (best == k_) {
            return true;
        }
        free_[best] = true;
    }
    return false;
}

bool ActiveSet::minimise(const double* H, std::size_t stride, const double* g, double* z) {
    double size = 0.0;
    for (std::size_t c = 0; c < k_; ++c) {
        size = std::max(size, std::fabs(g[c]));
    }
    const double tie = 1e-12 * size;
    begin(g, z);
    if (!all_at_once(H, stride, tie)) {
        begin(g, z);
        if (!one_at_a_time(H, stride, tie)) {
            return false;
        }
    }
    double total = 0.0;
    for (std::size_t c = 0; c < k_; ++c) {
        total += std::max(z_[c], 0.0);
    }
    // Far from 1 if rounding errors dominate.
    if (!(total > 0.5 && total < 2.0)) {
        return false;
    }
    for (std::size_t c = 0; c < k_; ++c) {
        z[c] = std::max(z_[c], 0.0) / total;
    }
    return true;
}

}  // namespace conclust
