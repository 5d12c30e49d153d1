// The label matrix cut into bit planes: one byte holds one bit of eight partitions' codes.
//
// Partitions form groups of eight, sorted by the number of bits of their codes. The largest code of a
// group sets its number of planes. In plane p of a group, bit b of an object's byte is bit p of its code
// in the group's b-th partition. Two objects differ in that partition exactly when some plane differs in
// bit b. One XOR and one OR per plane therefore compare eight partitions, for one pair of objects per
// byte of a register.
//
// Two more planes, only where a group needs them:
//   labelled  bit b is set where the object has a cluster in the b-th partition
//   present   bit b is set where it was observed (cluster or noise)
// A group with missing labels but no noise has one plane that is both. Bits beyond the group's last
// partition are 0 in code planes and 1 in the two others, so they never count as a difference.
//
// Layout: blocks of 64 objects; in a block, one 64-byte slice after the other. Objects beyond n in
// the last block are filled with zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/forms.h"
#include "labels/label_view.h"

namespace conclust {

struct SliceGroup {
    std::uint32_t size;  // partitions in this group, 1..8
    std::uint32_t first;  // slice of plane 0
    std::uint32_t planes;  // code planes
    std::int32_t labelled;  // slice, or -1: every object has a cluster
    std::int32_t present;  // slice, or -1: every object was observed
};

class BitSlices {
  public:
    static constexpr std::size_t block_size = 64;
    static constexpr std::size_t group_size = 8;

    // Precondition: n >= 1, m >= 1. Nothing points to the labels afterwards.
    BitSlices(const LabelView& labels, int threads);

    std::size_t n_samples() const { return n_; }
    std::size_t n_partitions() const { return order_.size(); }
    std::size_t n_blocks() const { return blocks_; }
    std::size_t n_slices() const { return slices_; }
    std::size_t n_bytes() const { return blocks_ * slices_ * block_size; }
    bool complete() const { return complete_; }  // no missing label anywhere: N_ij = m
    bool labelled() const { return labelled_; }  // and no noise either
    const std::vector<SliceGroup>& groups() const { return groups_; }
    // The partitions in the order of the groups: bit b of group g is partition order()[8 g + b].
    const std::vector<std::uint32_t>& order() const { return order_; }

    const std::uint8_t* block(std::size_t b) const { return bytes_.get() + b * slices_ * block_size; }
    std::uint8_t* block(std::size_t b) { return bytes_.get() + b * slices_ * block_size; }
    // The bytes of object i, one every block_size.
    const std::uint8_t* object(std::size_t i) const { return block(i / block_size) + i % block_size; }
    std::uint8_t* object(std::size_t i) { return block(i / block_size) + i % block_size; }

  private:
    struct Free {
        void operator()(std::uint8_t* bytes) const;
    };

    std::size_t n_;
    std::size_t blocks_;
    std::size_t slices_ = 0;
    bool complete_ = true;
    bool labelled_ = true;
    std::vector<SliceGroup> groups_;
    std::vector<std::uint32_t> order_;
    std::unique_ptr<std::uint8_t[], Free> bytes_;
};

// Consecutive groups; one byte per pair holds the sum of their differences.
struct Segment {
    std::size_t begin;
    std::size_t end;
};

// All groups, in segments of at most `most` groups. Only the last group can have fewer than 8
// partitions, so 31 groups (or 32 of at most 255 partitions together) never pass a byte.
std::vector<Segment> segments(const BitSlices& slices, std::size_t most);

// Writes each byte of object i four times, at every `stride`-th place of `to`. The vector forms compare
// these with a register of other objects.
void spread_object(const BitSlices& slices, std::size_t i, std::uint32_t* to, std::size_t stride);

// Tables for weighted evidence, one per group: byte z stands for the summed weights of the group's
// partitions that have a 0 bit in z. The order of adding is fixed: bits 0 to 3, bits 4 to 7, then the two
// sums. So all forms give the same bits.
//
// Preconditions: weights has one finite value >= 0 per partition of `slices`; `tables` has room for
// table_size(form) doubles per group.
void weight_tables(const BitSlices& slices, std::span<const double> weights, Form form, double* tables);
std::vector<double> weight_tables(const BitSlices& slices, std::span<const double> weights, Form form);

}  // namespace conclust
