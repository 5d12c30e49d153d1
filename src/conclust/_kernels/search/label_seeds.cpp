#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "labels/codes.h"
#include "labels/row_reader.h"
#include "search/label_vectors.h"

namespace conclust {
namespace {

// The comparison of a row with a centre: the weight of the row, the weight of the partitions that observed both, and the
// squared distance.
struct Apart {
    double own_weight = 0.0;
    double both = 0.0;
    double distance = 0.0;
};

Apart apart_soft(const LabelView& in, RowReader& row, std::size_t i, const std::vector<double>& centre,
                 const std::vector<double>& norm) {
    Apart apart;
    row.read(i);
    for (const RowBlock& block : row.blocks) {
        apart.own_weight += in.weights[block.member];
        if (norm[block.member] < 0.0) {
            continue;
        }
        double square = norm[block.member] + (block.begin == block.end ? 1.0 : 0.0);
        for (std::size_t e = block.begin; e < block.end; ++e) {
            const double x = row.entries[e].value;
            square += x * (x - 2.0 * centre[row.entries[e].column]);
        }
        apart.distance += in.weights[block.member] * std::max(square, 0.0);
        apart.both += in.weights[block.member];
    }
    return apart;
}

// For hard labels with a row as centre: partitions that separate the two count 2.
Apart apart_hard(const LabelView& in, std::size_t i, std::size_t centre,
                 const std::vector<double>& norm) {
    Apart apart;
    with_codes(in, [&]<class Code>(const Code* codes) {
        const Code* row = codes + i * in.m;
        const Code* other = codes + centre * in.m;
        for (std::size_t u = 0; u < in.m; ++u) {
            const double w = row[u] == missing_code<Code> ? 0.0 : in.weights[u];
            apart.own_weight += w;
            const double seen = norm[u] < 0.0 ? 0.0 : w;
            apart.both += seen;
            const bool same = row[u] == other[u] && row[u] < first_reserved_code<Code>;
            apart.distance += same ? 0.0 : 2.0 * seen;
        }
    });
    return apart;
}

// The same where every weight is 1: numbers of partitions.
Apart apart_counted(const LabelView& in, std::size_t i, std::size_t centre) {
    return with_codes(in, [&]<class Code>(const Code* codes) {
        const Code* row = codes + i * in.m;
        const Code* other = codes + centre * in.m;
        unsigned own = 0;
        unsigned both = 0;
        unsigned same = 0;
        for (std::size_t u = 0; u < in.m; ++u) {
            const bool observed = row[u] != missing_code<Code>;
            own += observed;
            both += observed & (other[u] != missing_code<Code>);
            same += (row[u] == other[u]) & (row[u] < first_reserved_code<Code>);
        }
        return Apart{static_cast<double>(own), static_cast<double>(both), 2.0 * (both - same)};
    });
}

// The same where every weight is 1 and no label is missing or noise.
Apart apart_complete(const LabelView& in, std::size_t i, std::size_t centre) {
    return with_codes(in, [&]<class Code>(const Code* codes) {
        const Code* row = codes + i * in.m;
        const Code* other = codes + centre * in.m;
        unsigned different = 0;
        for (std::size_t u = 0; u < in.m; ++u) {
            different += row[u] != other[u];
        }
        const double all = static_cast<double>(in.m);
        return Apart{all, all, 2.0 * different};
    });
}

}  // namespace

void seed_labels(const LabelRows& rows, std::size_t n_clusters, std::uint64_t seed,
                 std::span<std::int64_t> chosen) {
    const LabelView& in = rows.labels;
    std::vector<double> centre(in.n_clusters());
    std::vector<double> norm(in.m);  // |b_u|^2 of the centre, below 0 where it is missing
    std::vector<double> nearest(in.n, std::numeric_limits<double>::infinity());
    std::vector<double> chance(in.n);
    RowReader row(in);
    const double all_weights = std::accumulate(in.weights.begin(), in.weights.end(), 0.0);
    const bool unit =
        std::all_of(in.weights.begin(), in.weights.end(), [](double w) { return w == 1.0; });
    const auto apart_of = [&](std::size_t i, std::size_t centre_row) {
        if (in.soft) {
            return apart_soft(in, row, i, centre, norm);
        }
        if (unit) {
            return in.complete ? apart_complete(in, i, centre_row) : apart_counted(in, i, centre_row);
        }
        return apart_hard(in, i, centre_row, norm);
    };
    std::copy(rows.counts.begin(), rows.counts.end(), chance.begin());
    for (std::size_t k = 0; k < n_clusters; ++k) {
        const double mass = std::accumulate(chance.begin(), chance.end(), 0.0);
        if (!(mass > 0.0)) {
            break;  // every row is a copy of one that was drawn
        }
        double left = mass * static_cast<double>(random_bits(seed, 0, k) >> 11) * 0x1p-53;
        std::size_t drawn = 0;
        for (std::size_t i = 0; i < in.n; ++i) {
            if (chance[i] > 0.0) {
                drawn = i;
                left -= chance[i];
                if (left < 0.0) {
                    break;
                }
            }
        }
        std::fill(centre.begin(), centre.end(), 0.0);
        std::fill(norm.begin(), norm.end(), -1.0);
        row.read(drawn);
        for (const RowBlock& block : row.blocks) {
            double own = block.begin == block.end ? 1.0 : 0.0;
            for (std::size_t e = block.begin; e < block.end; ++e) {
                centre[row.entries[e].column] = row.entries[e].value;
                own += row.entries[e].value * row.entries[e].value;
            }
            norm[block.member] = own;
        }
        for (std::size_t i = 0; i < in.n; ++i) {
            const Apart apart = apart_of(i, drawn);
            // Rows that no partition observed together are as far apart as can be.
            double distance =
                apart.both > 0.0 ? apart.distance / apart.both * all_weights : 2.0 * all_weights;
            if (i == drawn || !(apart.own_weight > 0.0)) {
                distance = 0.0;
            }
            if (distance < nearest[i]) {
                nearest[i] = distance;
                chosen[i] = static_cast<std::int64_t>(k);
            }
            chance[i] = rows.counts[i] * nearest[i];
        }
    }
}

}  // namespace conclust
