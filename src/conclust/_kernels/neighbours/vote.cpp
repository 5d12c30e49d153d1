#include "neighbours/vote.h"

#include <vector>

#include "base/interrupt.h"

namespace conclust {

void vote(std::span<const std::int32_t> found, std::span<const double> squares, std::size_t k,
          std::span<const std::int32_t> labels, std::size_t members, std::span<std::int32_t> decided) {
    const std::size_t q = found.size() / k;
    std::vector<std::int32_t> voted(k);  // the labels, in the order of the nearest neighbour with each
    std::vector<std::size_t> counts(k);
    for (std::size_t i = 0; i < q; ++i) {
        if (i % 1024 == 0) {
            stop_if_interrupted();
        }
        const std::size_t voters = squares[i * k] == 0.0 ? 1 : k;
        for (std::size_t u = 0; u < members; ++u) {
            std::size_t distinct = 0;
            for (std::size_t m = 0; m < voters; ++m) {
                const std::int32_t label =
                    labels[static_cast<std::size_t>(found[i * k + m]) * members + u];
                std::size_t place = 0;
                while (place < distinct && voted[place] != label) {
                    ++place;
                }
                if (place == distinct) {
                    voted[distinct] = label;
                    counts[distinct++] = 0;
                }
                ++counts[place];
            }
            std::size_t best = 0;
            for (std::size_t place = 1; place < distinct; ++place) {
                best = counts[place] > counts[best] ? place : best;
            }
            decided[i * members + u] = voted[best];
        }
    }
}

}  // namespace conclust
