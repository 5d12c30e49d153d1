// The common part of the bit-sliced kernels' forms; included by the bodies of these, once in each
// form's namespace (see forms.h): no include guard on purpose.

// Weights of the partitions in which one object (its spread bytes in `b`) matches each object of a
// block, and of those that observed both: the bytes of mismatches are looked up in the groups' tables and
// added up in the order of the groups. Either output may be null.
inline void weighted_block(const BitSlices& slices, const double* tables, std::size_t block,
                           const std::uint32_t* b, double* matched, double* observed) {
    constexpr std::size_t size = BitSlices::block_size;
    const std::uint8_t* a = slices.block(block);
    if (matched) {
        std::fill_n(matched, size, 0.0);
    }
    if (observed) {
        std::fill_n(observed, size, 0.0);
    }
    for (const SliceGroup& group : slices.groups()) {
        if (matched) {
            for (std::size_t v = 0; v < size; v += lanes) {
                Vec x = zero();
                for (std::size_t s = group.first; s < group.first + group.planes; ++s) {
                    x = differ(x, load(a + s * size + v), spread4(b[s]));
                }
                if (group.labelled >= 0) {
                    const auto s = static_cast<std::size_t>(group.labelled);
                    x = unless(x, load(a + s * size + v), spread4(b[s]));
                }
                look_up(tables, x, matched + v);
            }
        }
        if (observed && group.present >= 0) {
            const auto s = static_cast<std::size_t>(group.present);
            for (std::size_t v = 0; v < size; v += lanes) {
                look_up(tables, unless(zero(), load(a + s * size + v), spread4(b[s])), observed + v);
            }
        } else if (observed) {
            const double all = of_zero(tables);
            for (std::size_t k = 0; k < size; ++k) {
                observed[k] += all;
            }
        }
        tables += table_entries;
    }
}
