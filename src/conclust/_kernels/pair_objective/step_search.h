// Line search for a step that lowers a convex function sufficiently.
#pragma once

namespace conclust {

// The search for a step t in (0, full] with rho(t) <= 0 and, unless t = full, rho(t) >= accept * rho(0),
// by secants (Illinois) and bisections of a bracket. rho never falls, and rho(0) < 0.
struct StepSearch {
    double low;   // the result: the largest t known to be good
    double high;
    double t;     // where rho must be evaluated next
    double full;
    double at_low;
    double at_high;
    double target;
    double guess;
    int steps;

    void start(double rho0, double whole, double accept, double first_guess);
    // Receives rho(t); returns whether another value is needed.
    bool feed(double rho);
};

}  // namespace conclust
