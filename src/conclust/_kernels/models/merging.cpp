#include "models/merging.h"

#include <algorithm>
#include <vector>

#include "base/clones.h"
#include "base/special.h"

namespace conclust {
namespace {

constexpr std::size_t lanes = 8;
// Number of buffered terms that await their logarithms: they stay in the L1 cache.
constexpr std::size_t waiting = 512;

// Some x, with a(x), w(x) and f(a(x)); where a(x) = 0 only w(x).
struct Places {
    std::vector<std::uint32_t> at;
    std::vector<double> values, weights, contents;
};

CONCLUST_INLINE double content(double value) { return value * natural_log(value); }

CONCLUST_CLONES void write_contents(const double* values, double* contents, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        contents[i] = content(values[i]);
    }
}

// Terms of x with b(x) > 0 that have been found, a number of them at once.
struct Waiting {
    double a[waiting], contents[waiting], b[waiting], weights[waiting];
    double sums[lanes];
    std::size_t count;
};

// w (f(a) + f(b) - f(a + b)): of the terms that wait.
CONCLUST_CLONES void add_whole(Waiting& terms) {
    for (std::size_t i = 0; i < terms.count; i += lanes) {
        for (std::size_t l = i; l < i + lanes; ++l) {
            const double apart = terms.contents[l] + content(terms.b[l]);
            terms.sums[l - i] += terms.weights[l] * (apart - content(terms.a[l] + terms.b[l]));
        }
    }
}

// w (f(a) - f(a + b)).
CONCLUST_CLONES void add_joined(Waiting& terms) {
    for (std::size_t i = 0; i < terms.count; i += lanes) {
        for (std::size_t l = i; l < i + lanes; ++l) {
            const double together = content(terms.a[l] + terms.b[l]);
            terms.sums[l - i] += terms.weights[l] * (terms.contents[l] - together);
        }
    }
}

// - w f(b).
CONCLUST_CLONES void subtract_others(Waiting& terms) {
    for (std::size_t i = 0; i < terms.count; i += lanes) {
        for (std::size_t l = i; l < i + lanes; ++l) {
            terms.sums[l - i] -= terms.weights[l] * content(terms.b[l]);
        }
    }
}

// The sum of the terms of all places where the other cluster is too, in a fixed order.
template <class Add>
double sum_over(const Places& places, const double* other, Waiting& terms, Add add) {
    std::fill(terms.sums, terms.sums + lanes, 0.0);
    terms.count = 0;
    for (std::size_t i = 0; i < places.at.size(); ++i) {
        const double value = other[places.at[i]];
        terms.a[terms.count] = places.values[i];
        terms.contents[terms.count] = places.contents[i];
        terms.b[terms.count] = value;
        terms.weights[terms.count] = places.weights[i];
        terms.count += value > 0.0;
        if (terms.count == waiting) {
            add(terms);
            terms.count = 0;
        }
    }
    for (; terms.count % lanes != 0; ++terms.count) {  // padding of weight 0
        terms.a[terms.count] = terms.b[terms.count] = 1.0;
        terms.contents[terms.count] = terms.weights[terms.count] = 0.0;
    }
    add(terms);
    for (std::size_t width = lanes / 2; width > 0; width /= 2) {
        for (std::size_t l = 0; l < width; ++l) {
            terms.sums[l] += terms.sums[l + width];
        }
    }
    return terms.sums[0];
}

}  // namespace

void common_contents(std::span<const double> columns, std::span<const double> weights,
                     std::span<const double> contents, std::size_t q,
                     std::span<const std::int64_t> others, std::span<double> sums) {
    const std::size_t n = weights.size();
    const double* own = columns.data() + q * n;
    Places inside, outside;
    for (std::size_t x = 0; x < n; ++x) {
        if (weights[x] > 0.0) {
            Places& places = own[x] > 0.0 ? inside : outside;
            places.at.push_back(static_cast<std::uint32_t>(x));
            places.values.push_back(own[x]);
            places.weights.push_back(weights[x]);
        }
    }
    inside.contents.resize(inside.values.size());
    outside.contents.resize(outside.values.size());
    write_contents(inside.values.data(), inside.contents.data(), inside.values.size());
    const bool nearly_everywhere = inside.at.size() > outside.at.size();
    Waiting terms;
    for (std::size_t e = 0; e < others.size(); ++e) {
        const auto r = static_cast<std::size_t>(others[e]);
        const double* other = columns.data() + r * n;
        if (nearly_everywhere) {
            sums[e] = sum_over(inside, other, terms, add_joined) +
                      (contents[r] + sum_over(outside, other, terms, subtract_others));
        } else {
            sums[e] = sum_over(inside, other, terms, add_whole);
        }
    }
}

}  // namespace conclust
