// min g'd + 1/2 d'H d over z + d on the simplex, exactly: Newton's step of a convex function.
//
// The minimum over the free clusters, all others held at 0; then every free cluster that became
// negative is held and every held one that would gain is set free, all at once (block pivoting; Kim
// and Park, SIAM J. Sci. Comput. 33(6), 2011). If that does not converge quickly, one at a time (the primal
// active set), which always ends. With few clusters a round is cheap compared with H itself, and
// the result is exact where pair steps (quadratic.h) converge slowly.
#pragma once

#include <cstddef>
#include <vector>

namespace conclust {

class ActiveSet {
  public:
    explicit ActiveSet(std::size_t k);

    // H (k x stride) is symmetric; z, on the simplex, becomes the minimiser. False, with z
    // unchanged, if H is 0 or if rounding errors dominate.
    bool minimise(const double* H, std::size_t stride, const double* g, double* z);

  private:
    std::size_t k_;
    std::vector<std::size_t> list_;  // free clusters but the heaviest
    std::vector<char> free_;
    std::vector<double> q_, z_, d_;  // gradient, point, direction
    std::vector<double> lower_;  // reduced H; the right side is the row below
    std::vector<double> column_;

    std::size_t heaviest() const;
    void begin(const double* g, const double* z);
    // d_ = from the point z_, with its gradient q_, to the minimum over the free clusters.
    bool direction(const double* H, std::size_t stride, std::size_t heaviest);
    void step(const double* H, std::size_t stride, double t);
    bool all_at_once(const double* H, std::size_t stride, double tie);
    bool one_at_a_time(const double* H, std::size_t stride, double tie);
};

}  // namespace conclust
