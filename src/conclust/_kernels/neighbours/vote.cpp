#include "neighbours/vote.h"

#include <algorithm>
#include <vector>

#include "base/interrupt.h"

namespace conclust {

void vote(std::span<const std::int32_t> found, std::span<const double> squares, std::size_t k,
          std::span<const std::int32_t> labels, std::size_t members, std::span<std::int32_t> decided) {
    const std::size_t q = found.size() / k;
    std::vector<std::int32_t> votes(k);
    for (std::size_t i = 0; i < q; ++i) {
        if (i % 1024 == 0) {
            stop_if_interrupted();
        }
        const std::size_t voters = squares[i * k] == 0.0 ? 1 : k;
        for (std::size_t u = 0; u < members; ++u) {
            for (std::size_t m = 0; m < voters; ++m) {
                votes[m] = labels[static_cast<std::size_t>(found[i * k + m]) * members + u];
            }
            std::sort(votes.begin(), votes.begin() + static_cast<std::ptrdiff_t>(voters));
            std::size_t most = 0;
            std::size_t run = 0;
            for (std::size_t m = 0; m < voters; ++m) {
                run = m > 0 && votes[m] == votes[m - 1] ? run + 1 : 1;
                if (run > most) {
                    most = run;
                    decided[i * members + u] = votes[m];
                }
            }
        }
    }
}

}  // namespace conclust
