// The body of coassociation.cpp, included there once in each form's namespace (see forms.h): no
// include guard on purpose.

#include "evidence/bitsliced/slices_form.h"

// `from` less in how many partitions of a segment (at most 255) the pairs of R rows and C vectors of
// objects do not match, and less in how many one of the two is absent: a byte each. `a` points to the
// vectors' first bytes in slice 0, `b` to the rows' bytes (repeated four times), slice by slice. A function
// of its own, so that gcc keeps a tile in registers: in a larger one it spills.
template <int R, int C, bool Matches, bool Presence>
CONCLUST_APART void count_bytes(const SliceGroup* groups, const Segment& segment,
                                const std::uint8_t* const (&a)[C], const std::uint32_t* b,
                                std::uint8_t from, std::uint8_t* c, std::uint8_t* present,
                                std::size_t stride) {
    Vec misses[R][C];
    Vec absences[R][C];
    for (int r = 0; r < R; ++r) {
        for (int v = 0; v < C; ++v) {
            misses[r][v] = zero();
            absences[r][v] = zero();
        }
    }
    for (std::size_t g = segment.begin; g < segment.end; ++g) {
        const SliceGroup& group = groups[g];
        if constexpr (Matches) {
            Vec x[R][C];
            for (int r = 0; r < R; ++r) {
                for (int v = 0; v < C; ++v) {
                    x[r][v] = zero();
                }
            }
            const std::size_t last = group.first + group.planes;
            for (std::size_t s = group.first; s < last; ++s) {
                Vec left[C];
                for (int v = 0; v < C; ++v) {
                    left[v] = load(a[v] + s * BitSlices::block_size);
                }
                for (int r = 0; r < R; ++r) {
                    const Vec right = spread4(b[s * R + r]);
                    for (int v = 0; v < C; ++v) {
                        x[r][v] = differ(x[r][v], left[v], right);
                    }
                }
            }
            if (group.labelled >= 0) {
                const auto s = static_cast<std::size_t>(group.labelled);
                for (int v = 0; v < C; ++v) {
                    const Vec left = load(a[v] + s * BitSlices::block_size);
                    for (int r = 0; r < R; ++r) {
                        x[r][v] = unless(x[r][v], left, spread4(b[s * R + r]));
                    }
                }
            }
            for (int r = 0; r < R; ++r) {
                for (int v = 0; v < C; ++v) {
                    misses[r][v] = add(misses[r][v], popcount(x[r][v]));
                }
            }
        }
        if constexpr (Presence) {
            if (group.present >= 0) {
                const auto s = static_cast<std::size_t>(group.present);
                for (int v = 0; v < C; ++v) {
                    const Vec left = load(a[v] + s * BitSlices::block_size);
                    for (int r = 0; r < R; ++r) {
                        absences[r][v] =
                            add(absences[r][v], popcount(unless(zero(), left, spread4(b[s * R + r]))));
                    }
                }
            }
        }
    }
    for (std::size_t r = 0; r < R; ++r) {
        for (std::size_t v = 0; v < C; ++v) {
            if constexpr (Matches) {
                store(c + r * stride + v * lanes, subtract(spread(from), misses[r][v]));
            }
            if constexpr (Presence) {
                store(present + r * stride + v * lanes, subtract(spread(from), absences[r][v]));
            }
        }
    }
}

// Subtracts 255 - `bytes` (R x C x lanes) from `base` on the first segment, from the output on later ones.
template <class Count>
CONCLUST_APART void flush(const std::uint8_t* bytes, std::size_t R, std::size_t C, Count* out,
                          std::size_t stride, const std::size_t* counts, Count base, bool first) {
    for (std::size_t r = 0; r < R; ++r) {
        for (std::size_t v = 0; v < C; ++v, bytes += lanes) {
            Count* to = out + r * stride + v * lanes;
            for (std::size_t k = 0; k < counts[v]; ++k) {
                to[k] = static_cast<Count>((first ? base : to[k]) - (255 - bytes[k]));
            }
        }
    }
}

// R rows against C vectors of objects, of which there are `counts`, to their places; a, b as above.
template <int R, int C, bool Matches, bool Presence, class Count>
CONCLUST_FORM_INLINE void tile(const BitSlices& slices, const std::vector<Segment>& segments,
                               const std::uint8_t* const (&a)[C], const std::uint32_t* b, Count* c,
                               Count* present, std::size_t stride, const std::size_t (&counts)[C]) {
    const auto base = static_cast<Count>(slices.n_partitions());
    const SliceGroup* groups = slices.groups().data();
    if constexpr (sizeof(Count) == 1) {
        if (segments.size() == 1 && std::all_of(counts, counts + C, [](auto x) { return x == lanes; })) {
            count_bytes<R, C, Matches, Presence>(groups, segments[0], a, b, base, c, present, stride);
            return;
        }
    }
    for (const Segment& segment : segments) {
        alignas(64) std::uint8_t matched[R * C * lanes];
        alignas(64) std::uint8_t observed[R * C * lanes];
        count_bytes<R, C, Matches, Presence>(groups, segment, a, b, 255, matched, observed, C * lanes);
        const bool first = segment.begin == 0;
        if constexpr (Matches) {
            flush<Count>(matched, R, C, c, stride, counts, base, first);
        }
        if constexpr (Presence) {
            flush<Count>(observed, R, C, present, stride, counts, base, first);
        }
    }
}

// R rows against the objects of vectors [begin, end), to the rows from `row` on of the target.
template <int R, bool Matches, bool Presence, class Count>
void stripe(const BitSlices& slices, const std::vector<Segment>& segments, const std::uint32_t* b,
            std::size_t begin, std::size_t end, const Target<Count>& to, std::size_t row) {
    constexpr std::size_t C = column_tile;
    constexpr std::size_t per_block = BitSlices::block_size / lanes;
    const auto at = [&slices](std::size_t v) {
        return slices.block(v / per_block) + v % per_block * lanes;
    };
    const auto place = [&to, row](Count* array, std::size_t v) {
        return array ? array + row * to.stride + (v * lanes - to.first) : nullptr;
    };
    std::size_t v = begin;
    for (; v + C <= end && (v + C) * lanes <= to.last; v += C) {
        const std::uint8_t* a[C];
        std::size_t counts[C];
        for (std::size_t k = 0; k < C; ++k) {
            a[k] = at(v + k);
            counts[k] = lanes;
        }
        tile<R, C, Matches, Presence>(slices, segments, a, b, place(to.c, v), place(to.present, v),
                                      to.stride, counts);
    }
    for (; v < end; ++v) {
        const std::uint8_t* const a[1] = {at(v)};
        const std::size_t counts[1] = {std::min(lanes, to.last - v * lanes)};
        tile<R, 1, Matches, Presence>(slices, segments, a, b, place(to.c, v), place(to.present, v),
                                      to.stride, counts);
    }
}

// The bytes of objects [begin, end) as tiles want them: by row_tile objects, the rest one by one.
inline void spread_rows(const BitSlices& slices, std::size_t begin, std::size_t end, std::uint32_t* b) {
    constexpr std::size_t R = row_tile;
    const std::size_t whole = begin + (end - begin) / R * R;
    for (std::size_t i = begin; i < whole; i += R, b += R * slices.n_slices()) {
        for (std::size_t r = 0; r < R; ++r) {
            spread_object(slices, i + r, b + r, R);
        }
    }
    for (std::size_t i = whole; i < end; ++i, b += slices.n_slices()) {
        spread_object(slices, i, b, 1);
    }
}

// `count` objects (their bytes from spread_rows) against the objects of vectors [begin, end).
template <bool Matches, bool Presence, class Count>
void stripes(const BitSlices& slices, const std::vector<Segment>& segments, const std::uint32_t* b,
             std::size_t count, std::size_t begin, std::size_t end, const Target<Count>& to) {
    constexpr std::size_t R = row_tile;
    std::size_t row = 0;
    for (; row + R <= count; row += R, b += R * slices.n_slices()) {
        stripe<R, Matches, Presence>(slices, segments, b, begin, end, to, row);
    }
    for (; row < count; ++row, b += slices.n_slices()) {
        stripe<1, Matches, Presence>(slices, segments, b, begin, end, to, row);
    }
}

// Rows [begin, end) of the output against all objects; `b` is scratch for their bytes.
template <bool Matches, bool Presence, class Count>
void rows(const BitSlices& slices, const std::vector<Segment>& segments, std::size_t begin,
          std::size_t end, std::uint32_t* b, const Target<Count>& to) {
    spread_rows(slices, begin, end, b);
    const std::size_t vectors = (slices.n_samples() + lanes - 1) / lanes;
    const std::size_t bytes = lanes * std::max<std::size_t>(1, slices.n_slices());
    const std::size_t step = std::max<std::size_t>(1, tile_bytes / bytes / column_tile) * column_tile;
    for (std::size_t v = 0; v < vectors; v += step) {
        stripes<Matches, Presence>(slices, segments, b, end - begin, v, std::min(vectors, v + step), to);
    }
}

// Rows [begin, end) of the whole output, from the diagonal on, and their mirrored entries: square by square
// in scratch, then to both places. begin is a multiple of `band`, end at most band later.
template <bool Matches, bool Presence>
void symmetric_rows(const BitSlices& slices, const std::vector<Segment>& segments, std::size_t begin,
                    std::size_t end, std::uint32_t* b, const Target<std::uint8_t>& scratch,
                    std::uint8_t* c, std::uint8_t* present) {
    const std::size_t n = slices.n_samples();
    spread_rows(slices, begin, end, b);
    for (std::size_t from = begin; from < n; from += band) {
        const std::size_t to = std::min(n, from + band);
        const std::size_t last = (to + lanes - 1) / lanes;
        const Target<std::uint8_t> square{scratch.c, scratch.present, band, from, last * lanes};
        stripes<Matches, Presence>(slices, segments, b, end - begin, from / lanes, last, square);
        if constexpr (Matches) {
            mirror(scratch.c, c, n, begin, end, from, to);
        }
        if constexpr (Presence) {
            mirror(scratch.present, present, n, begin, end, from, to);
        }
    }
}

// One row of sums of weights.
void weighted_row(const BitSlices& slices, const double* tables, std::size_t i, std::uint32_t* b,
                  double* c, double* present) {
    const std::size_t n = slices.n_samples();
    spread_object(slices, i, b, 1);
    alignas(64) double matched[BitSlices::block_size];
    alignas(64) double observed[BitSlices::block_size];
    for (std::size_t block = 0; block < slices.n_blocks(); ++block) {
        const std::size_t first = block * BitSlices::block_size;
        const std::size_t count = std::min(BitSlices::block_size, n - first);
        weighted_block(slices, tables, block, b, c ? matched : nullptr, present ? observed : nullptr);
        if (c) {
            std::copy_n(matched, count, c + first);
        }
        if (present) {
            std::copy_n(observed, count, present + first);
        }
    }
}
