#include "simplex/projection.h"

#include <algorithm>

namespace conclust {

void project_rows(std::span<const double> V, std::span<const double> scale, std::span<double> X) {
    const std::size_t k = scale.size();
    for (std::size_t i = 0; i < V.size() / k; ++i) {
        const double* v = V.data() + i * k;
        double* x = X.data() + i * k;
        // Adding a constant to a row changes nothing; with the largest at 0, sums keep their digits.
        const std::size_t largest = static_cast<std::size_t>(std::max_element(v, v + k) - v);
        const double top = v[largest];
        // theta starts at its value for the largest entry alone. It rises as long as values fall below it.
        double theta = -1.0 / scale[largest];
        std::size_t above = k + 1;
        for (;;) {
            double sum = 0.0;
            double price = 0.0;
            std::size_t count = 0;
            for (std::size_t c = 0; c < k; ++c) {
                if (v[c] - top > theta) {
                    sum += scale[c] * (v[c] - top);
                    price += scale[c];
                    ++count;
                }
            }
            if (count >= above) {  // more of them again: by rounding
                break;
            }
            above = count;
            theta = (sum - 1.0) / price;
        }
        double total = 0.0;
        for (std::size_t c = 0; c < k; ++c) {
            x[c] = scale[c] * std::max(v[c] - top - theta, 0.0);
            total += x[c];
        }
        for (std::size_t c = 0; c < k; ++c) {
            x[c] /= total;  // of rounding
        }
    }
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
