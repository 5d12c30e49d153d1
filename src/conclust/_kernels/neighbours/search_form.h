// The body of search.cpp, included there once in each form's namespace: no include guard, no includes.
//
// From the form: Floats of `wide` values; load, store, spread, multiply_add; `above` (a bit for each lane of which
// the score is above the threshold).

constexpr std::size_t tile_rows = across * wide;
static_assert(tile_rows <= most_rows);

// The scores of points, six at a time, for the queries of a tile; those above a query's threshold are collected.
inline void scan(const float* tile, std::size_t d, const PackedPoints& packed, std::size_t first_six,
                 std::size_t last_six, Candidates& candidates) {
    alignas(64) float stored[tile_rows];
    for (std::size_t six = first_six; six < last_six; ++six) {
        const float* points = packed.values.data() + six * together * d;
        const float* minus_half = packed.minus_half.data() + six * together;
        Floats scores[together][across];
        for (std::size_t k = 0; k < together; ++k) {
            for (std::size_t p = 0; p < across; ++p) {
                scores[k][p] = spread(minus_half[k]);
            }
        }
        for (std::size_t j = 0; j < d; ++j) {
            const float* x = tile + j * tile_rows;
            Floats values[across];
            for (std::size_t p = 0; p < across; ++p) {
                values[p] = load(x + p * wide);
            }
            for (std::size_t k = 0; k < together; ++k) {
                const Floats point = spread(points[j * together + k]);
                for (std::size_t p = 0; p < across; ++p) {
                    scores[k][p] = multiply_add(values[p], point, scores[k][p]);
                }
            }
        }
        for (std::size_t k = 0; k < together; ++k) {
            std::uint64_t bits = 0;
            for (std::size_t p = 0; p < across; ++p) {
                const Floats threshold = load(candidates.thresholds.data() + p * wide);
                bits |= above(scores[k][p], threshold) << (p * wide);
            }
            if (bits == 0) {
                continue;
            }
            for (std::size_t p = 0; p < across; ++p) {
                store(stored + p * wide, scores[k][p]);
            }
            const std::int32_t place = packed.places[six * together + k];
            for (; bits != 0; bits &= bits - 1) {
                const auto r = static_cast<std::size_t>(std::countr_zero(bits));
                candidates.add(r, stored[r], place);
            }
        }
    }
}
