// The body of spanning_tree.cpp, included there once in each form's namespace (see forms.h): no
// include guard on purpose.
//
// Each relax_* function compares one object (its spread bytes in `b`) with the first `candidates`
// objects of the planes and lowers `best` where it is nearer than any object before. Returns the
// number of blocks in which that happened and writes these to `changed`. `best` has room for whole
// blocks; beyond the candidates it holds a value that nothing undercuts.

#include "evidence/bitsliced/slices_form.h"

constexpr std::size_t block_size = BitSlices::block_size;
constexpr std::size_t per_block = block_size / lanes;

// Partitions that do not match, of one block in the groups of one segment: one byte a candidate.
CONCLUST_FORM_INLINE void misses(const BitSlices& slices, const Segment& segment, const std::uint8_t* a,
                                 const std::uint32_t* b, std::uint8_t* out) {
    Vec sum[per_block];
    for (std::size_t v = 0; v < per_block; ++v) {
        sum[v] = zero();
    }
    for (std::size_t g = segment.begin; g < segment.end; ++g) {
        const SliceGroup& group = slices.groups()[g];
        Vec x[per_block];
        for (std::size_t v = 0; v < per_block; ++v) {
            x[v] = zero();
        }
        const std::size_t last = group.first + group.planes;
        for (std::size_t s = group.first; s < last; ++s) {
            const Vec right = spread4(b[s]);
            for (std::size_t v = 0; v < per_block; ++v) {
                x[v] = differ(x[v], load(a + s * block_size + v * lanes), right);
            }
        }
        if (group.labelled >= 0) {
            const auto s = static_cast<std::size_t>(group.labelled);
            const Vec right = spread4(b[s]);
            for (std::size_t v = 0; v < per_block; ++v) {
                x[v] = unless(x[v], load(a + s * block_size + v * lanes), right);
            }
        }
        for (std::size_t v = 0; v < per_block; ++v) {
            sum[v] = add(sum[v], popcount(x[v]));
        }
    }
    for (std::size_t v = 0; v < per_block; ++v) {
        store(out + v * lanes, sum[v]);
    }
}

// The same for partitions that did not observe both.
CONCLUST_FORM_INLINE void absences(const BitSlices& slices, const Segment& segment,
                                   const std::uint8_t* a, const std::uint32_t* b, std::uint8_t* out) {
    Vec sum[per_block];
    for (std::size_t v = 0; v < per_block; ++v) {
        sum[v] = zero();
    }
    for (std::size_t g = segment.begin; g < segment.end; ++g) {
        const SliceGroup& group = slices.groups()[g];
        if (group.present >= 0) {
            const auto s = static_cast<std::size_t>(group.present);
            const Vec right = spread4(b[s]);
            for (std::size_t v = 0; v < per_block; ++v) {
                sum[v] =
                    add(sum[v], popcount(unless(zero(), load(a + s * block_size + v * lanes), right)));
            }
        }
    }
    for (std::size_t v = 0; v < per_block; ++v) {
        store(out + v * lanes, sum[v]);
    }
}

// Complete labels: N_ij = m for all, so that the fewest misses are the smallest distance.
template <class Count>
std::size_t relax_counts(const BitSlices& slices, const std::vector<Segment>& parts,
                         std::size_t candidates, const std::uint32_t* b, Count* best,
                         std::uint32_t* changed) {
    std::size_t n_changed = 0;
    const std::size_t blocks = (candidates + block_size - 1) / block_size;
    for (std::size_t block = 0; block < blocks; ++block) {
        Count* nearest = best + block * block_size;
        alignas(64) std::uint8_t bytes[block_size];
        alignas(64) Count total[block_size] = {};
        for (const Segment& part : parts) {
            misses(slices, part, slices.block(block), b, bytes);
            for (std::size_t k = 0; k < block_size; ++k) {
                total[k] = static_cast<Count>(total[k] + bytes[k]);
            }
        }
        std::uint8_t nearer = 0;
        for (std::size_t k = 0; k < block_size; ++k) {
            nearer |= static_cast<std::uint8_t>(total[k] < nearest[k]);
            nearest[k] = std::min(nearest[k], total[k]);
        }
        if (nearer) {
            changed[n_changed++] = static_cast<std::uint32_t>(block);
        }
    }
    return n_changed;
}

// Missing labels: distances 1 - c/N, and 1 where no partition observed both.
inline std::size_t relax_ratios(const BitSlices& slices, const std::vector<Segment>& parts,
                                std::size_t candidates, const std::uint32_t* b, double* best,
                                std::uint32_t* changed) {
    std::size_t n_changed = 0;
    const auto m = static_cast<std::int32_t>(slices.n_partitions());
    const std::size_t blocks = (candidates + block_size - 1) / block_size;
    for (std::size_t block = 0; block < blocks; ++block) {
        const std::uint8_t* a = slices.block(block);
        double* nearest = best + block * block_size;
        alignas(64) std::uint8_t bytes[block_size];
        alignas(64) std::int32_t matched[block_size];
        alignas(64) std::int32_t present[block_size];
        std::fill_n(matched, block_size, m);
        std::fill_n(present, block_size, m);
        for (const Segment& part : parts) {
            misses(slices, part, a, b, bytes);
            for (std::size_t k = 0; k < block_size; ++k) {
                matched[k] -= bytes[k];
            }
            absences(slices, part, a, b, bytes);
            for (std::size_t k = 0; k < block_size; ++k) {
                present[k] -= bytes[k];
            }
        }
        // Where N is 0, so is c: 0 / 1 instead of 0 / 0 needs no branch.
        std::uint64_t nearer = 0;
        for (std::size_t k = 0; k < block_size; ++k) {
            const double distance =
                1.0 - static_cast<double>(matched[k]) / static_cast<double>(std::max(present[k], 1));
            nearer |= static_cast<std::uint64_t>(distance < nearest[k]);
            nearest[k] = std::min(nearest[k], distance);
        }
        if (nearer) {
            changed[n_changed++] = static_cast<std::uint32_t>(block);
        }
    }
    return n_changed;
}

// Weights: sums from the groups' tables, in the order of the groups.
inline std::size_t relax_weights(const BitSlices& slices, const double* tables, std::size_t candidates,
                                 const std::uint32_t* b, double* best, std::uint32_t* changed) {
    std::size_t n_changed = 0;
    const std::size_t blocks = (candidates + block_size - 1) / block_size;
    for (std::size_t block = 0; block < blocks; ++block) {
        alignas(64) double matched[block_size];
        alignas(64) double present[block_size];
        weighted_block(slices, tables, block, b, matched, present);
        double* nearest = best + block * block_size;
        std::uint64_t nearer = 0;
        for (std::size_t k = 0; k < block_size; ++k) {
            const double distance = 1.0 - (present[k] > 0.0 ? matched[k] / present[k] : 0.0);
            nearer |= static_cast<std::uint64_t>(distance < nearest[k]);
            nearest[k] = std::min(nearest[k], distance);
        }
        if (nearer) {
            changed[n_changed++] = static_cast<std::uint32_t>(block);
        }
    }
    return n_changed;
}
