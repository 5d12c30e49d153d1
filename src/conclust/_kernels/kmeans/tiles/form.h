// The body of tiles.cpp, included there once in each form's namespace: no include guard, no includes.
//
// From the form: Floats and Ints of `wide` values; load, store, spread, multiply_add; `meet` (a score against
// the best two so far); `doubtful` (a bit for each lane whose best two are not further apart than the bound).

constexpr std::size_t tile_rows = across * wide;
static_assert(tile_rows <= most_rows);

// The best two scores of each point so far.
struct Standing {
    float best[tile_rows];
    float second[tile_rows];
};

// The scores of `count` centres, which lie beside each other feature by feature, held against the best.
template <std::size_t count>
CONCLUST_FORM_INLINE void hold(const float* tile, const PackedMember& member, std::size_t first,
                               Standing& standing, std::int32_t* which) {
    const float* centers = member.centers + first * member.features;
    Floats scores[count][across];
    for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t p = 0; p < across; ++p) {
            scores[k][p] = spread(member.minus_half[first + k]);
        }
    }
    for (std::size_t j = 0; j < member.features; ++j) {
        const float* x = tile + static_cast<std::size_t>(member.columns[j]) * tile_rows;
        Floats values[across];
        for (std::size_t p = 0; p < across; ++p) {
            values[p] = load(x + p * wide);
        }
        for (std::size_t k = 0; k < count; ++k) {
            const Floats center = spread(centers[j * count + k]);
            for (std::size_t p = 0; p < across; ++p) {
                scores[k][p] = multiply_add(values[p], center, scores[k][p]);
            }
        }
    }
    for (std::size_t p = 0; p < across; ++p) {
        Floats best = load(standing.best + p * wide);
        Floats second = load(standing.second + p * wide);
        Ints place = load(which + p * wide);
        for (std::size_t k = 0; k < count; ++k) {
            meet(scores[k][p], static_cast<std::int32_t>(first + k), best, second, place);
        }
        store(standing.best + p * wide, best);
        store(standing.second + p * wide, second);
        store(which + p * wide, place);
    }
}

// The centre with the largest score for each point of a tile, and a bit for each point left in doubt.
inline std::uint64_t score_member(const Tile& tile, const PackedMember& member, std::int32_t* which) {
    Standing standing;
    for (std::size_t r = 0; r < tile_rows; ++r) {
        standing.best[r] = standing.second[r] = -std::numeric_limits<float>::infinity();
        which[r] = 0;
    }
    std::size_t k = 0;
    for (; k + together <= member.clusters; k += together) {
        hold<together>(tile.values, member, k, standing, which);
    }
    switch (member.clusters - k) {
        case 5: hold<5>(tile.values, member, k, standing, which); break;
        case 4: hold<4>(tile.values, member, k, standing, which); break;
        case 3: hold<3>(tile.values, member, k, standing, which); break;
        case 2: hold<2>(tile.values, member, k, standing, which); break;
        case 1: hold<1>(tile.values, member, k, standing, which); break;
        default: break;
    }
    std::uint64_t bits = 0;
    for (std::size_t p = 0; p < across; ++p) {
        const Floats own = load(tile.extras + p * wide) + spread(member.extra);
        const Floats bound = multiply_add(load(tile.lengths + p * wide), spread(member.per_length), own);
        const Floats lead = load(standing.best + p * wide) - load(standing.second + p * wide);
        bits |= doubtful(lead, bound) << (p * wide);
    }
    return bits;
}

inline void score_tile(const Tile& tile, std::span<const PackedMember> members, std::int32_t* which,
                       std::uint64_t* doubts) {
    for (std::size_t u = 0; u < members.size(); ++u) {
        doubts[u] = score_member(tile, members[u], which + u * tile_rows);
    }
}
