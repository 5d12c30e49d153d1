// The one door between Python and the kernels: a bind_* function per folder, called by module.cpp.
//
// Python guarantees each kernel's preconditions (type, contiguity, range). A binding converts
// pointers and sizes, releases the GIL, calls the kernel, and does nothing else.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>

#include "base/gil.h"

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The content of an array; empty for None.
template <class T, class... Form>
std::span<T> span_of(const nb::ndarray<T, Form...>& array) {
    return array.is_valid() ? std::span<T>(array.data(), array.size()) : std::span<T>();
}

// Counts, or sums of weights: unsigned integers of 1, 2 or 4 bytes, or doubles.
using AnyCounts = nb::ndarray<nb::c_contig, nb::device::cpu, nb::ro>;

void bind_labels(nb::module_& m);
void bind_kmeans(nb::module_& m);
void bind_evidence(nb::module_& m);
void bind_bitsliced(nb::module_& m);
void bind_nearest(nb::module_& m);
void bind_simplex(nb::module_& m);
void bind_pair_objective(nb::module_& m);
void bind_factored(nb::module_& m);
void bind_greedy(nb::module_& m);
void bind_pairwise(nb::module_& m);
void bind_landmark(nb::module_& m);
void bind_linkage(nb::module_& m);
void bind_row_linkage(nb::module_& m);
void bind_search(nb::module_& m);
void bind_models(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_neighbours(nb::module_& m);
void bind_borders(nb::module_& m);
