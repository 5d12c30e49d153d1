#include "search/rows/row_gains.h"

#include <algorithm>

#include "base/clones.h"
#include "base/pack.h"

namespace conclust {
namespace {

// Four packs of clusters are kept in registers while the partitions are read.
constexpr std::size_t packs_at_once = 4;

// One pack of a partition's gains: by the loss, from the increase of the squares.
struct Quadratic {
    CONCLUST_INLINE static Pack of(const Pack& w, const Pack& crossed, const Pack& square, const Pack& p,
                                   const Pack& c) {
        const Pack held = where_less(spread(0.0), p, p, spread(1.0));
        return w * (crossed * held - c * square) / (held * (p + c));
    }
};

struct Cut {
    CONCLUST_INLINE static Pack of(const Pack& w, const Pack& crossed, const Pack&, const Pack&,
                                   const Pack&) {
        return w * crossed;
    }
};

template <std::size_t packs, class Loss>
CONCLUST_INLINE void square_gains(const HardRow& row, std::size_t begin, double* gain) {
    Pack sum[packs];
    for (std::size_t j = 0; j < packs; ++j) {
        sum[j] = spread(0.0);
    }
    const Pack c = spread(row.count);
    for (std::size_t u = 0; u < row.places.size(); ++u) {
        const std::int64_t place = row.places[u];
        if (place == place_missing) {
            continue;
        }
        const Pack w = spread(row.weights[u]);
        const double* square = row.squares + u * row.width + begin;
        const double* present = row.present + u * row.width + begin;
        for (std::size_t j = 0; j < packs; ++j) {
            Pack crossed = c;
            if (place != place_noise) {
                const Pack s = load(row.sums + static_cast<std::size_t>(place) + begin + pack_lanes * j);
                crossed = c * (spread(2.0) * s + c);
            }
            sum[j] +=
                Loss::of(w, crossed, load(square + pack_lanes * j), load(present + pack_lanes * j), c);
        }
    }
    for (std::size_t j = 0; j < packs; ++j) {
        store(gain + begin + pack_lanes * j, sum[j]);
    }
}

template <std::size_t packs>
CONCLUST_INLINE void entropy_gains(const HardRow& row, std::size_t begin, double* gain) {
    Pack sum[packs];
    for (std::size_t j = 0; j < packs; ++j) {
        sum[j] = spread(0.0);
    }
    for (std::size_t u = 0; u < row.places.size(); ++u) {
        const std::int64_t place = row.places[u];
        if (place == place_missing) {
            continue;
        }
        const Pack w = spread(row.weights[u]);
        const double* present = row.present + u * row.width + begin;
        for (std::size_t j = 0; j < packs; ++j) {
            Pack grown = load(present + pack_lanes * j);
            if (place != place_noise) {
                grown += load(row.sums + static_cast<std::size_t>(place) + begin + pack_lanes * j);
            }
            sum[j] += w * grown;
        }
    }
    for (std::size_t j = 0; j < packs; ++j) {
        store(gain + begin + pack_lanes * j, sum[j]);
    }
}

// Calls work.template of<packs>(begin) for all clusters.
template <class Work>
CONCLUST_INLINE void in_packs(std::size_t width, Work work) {
    constexpr std::size_t step = packs_at_once * pack_lanes;
    std::size_t begin = 0;
    for (; begin + step <= width; begin += step) {
        work.template of<packs_at_once>(begin);
    }
    switch ((width - begin) / pack_lanes) {
        case 1: work.template of<1>(begin); break;
        case 2: work.template of<2>(begin); break;
        case 3: work.template of<3>(begin); break;
        default: break;
    }
}

template <class Loss>
struct SquareGains {
    const HardRow& row;
    double* gain;
    template <std::size_t packs>
    CONCLUST_INLINE void of(std::size_t begin) const {
        square_gains<packs, Loss>(row, begin, gain);
    }
};

struct EntropyGains {
    const HardRow& row;
    double* gain;
    template <std::size_t packs>
    CONCLUST_INLINE void of(std::size_t begin) const {
        entropy_gains<packs>(row, begin, gain);
    }
};

}  // namespace

CONCLUST_CLONES void quadratic_row_gains(const HardRow& row, double* gain) {
    in_packs(row.width, SquareGains<Quadratic>{row, gain});
}

CONCLUST_CLONES void cut_row_gains(const HardRow& row, double* gain) {
    in_packs(row.width, SquareGains<Cut>{row, gain});
}

CONCLUST_CLONES void entropic_row_gains(const HardRow& row, double* gain) {
    in_packs(row.width, EntropyGains{row, gain});
}

CONCLUST_CLONES void cut_gains_of(const double* kept, const double* degree, double d, std::size_t width,
                                  double* gain) {
    const Pack added = spread(d);
    for (std::size_t k = 0; k < width; k += pack_lanes) {
        const Pack D = load(degree + k);
        const Pack held = where_less(spread(0.0), D, D, spread(1.0));
        const Pack both = D + added;
        const Pack change = load(gain + k) * held - added * load(kept + k);
        // No division by 0, whose flag a caller might see.
        const Pack whole = held * where_less(spread(0.0), both, both, spread(1.0));
        store(gain + k, where_less(spread(0.0), both, change / whole, spread(0.0)));
    }
}

double greatest(const double* values, std::size_t k) {
    double most[4] = {values[0], values[0], values[0], values[0]};
    std::size_t i = 0;
    for (; i + 4 <= k; i += 4) {
        for (std::size_t j = 0; j < 4; ++j) {
            most[j] = most[j] < values[i + j] ? values[i + j] : most[j];
        }
    }
    for (; i < k; ++i) {
        most[0] = most[0] < values[i] ? values[i] : most[0];
    }
    return std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
}

}  // namespace conclust
