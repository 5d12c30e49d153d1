#include "pair_objective/step_search.h"

#include <algorithm>

namespace conclust {

void StepSearch::start(double rho0, double whole, double accept, double first_guess) {
    low = 0.0;
    high = full = t = whole;
    at_low = rho0;
    at_high = 0.0;
    target = accept * rho0;
    guess = first_guess;
    steps = 0;
}

bool StepSearch::feed(double rho) {
    const bool below = rho <= 0.0;
    if (below) {
        low = t;
        if (t >= full || rho >= target) {
            return false;
        }
        at_low = rho;
        at_high *= 0.5;  // Illinois: the end that stays counts for less
    } else {
        high = t;
        at_high = rho;
        at_low *= steps ? 0.5 : 1.0;
    }
    if (++steps > 80 || high - low <= 1e-13 * high) {
        return false;
    }
    if (steps == 1 && guess > 0.0 && guess < 0.9 * high) {
        t = guess;
    } else if (at_high > -30.0 * at_low || steps % 4 == 0) {
        t = low + (low > 0.0 || steps < 4 ? 0.5 : 0.1) * (high - low);
    } else {
        // Aim at the middle of the accepted slopes, not at their edge, 0.
        const double aim = std::max(0.5 * target, at_low);
        t = low + (high - low) * ((at_low - aim) / (at_low - at_high));
    }
    if (!(t > low && t < high)) {
        t = low + 0.5 * (high - low);
    }
    return true;
}

}  // namespace conclust
