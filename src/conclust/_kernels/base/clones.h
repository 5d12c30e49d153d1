// CONCLUST_CLONES: compile a function once for each instruction set and choose at load time.
//
// Only where the loader can do it (glibc, gcc on x86-64); elsewhere, and under the sanitizers, the
// macro is empty. CONCLUST_LEVEL, if defined, is the one instruction set beside the portable form.
// All clones agree to the bit, because contraction is off and every floating sum
// in the source runs over a fixed number of lanes in a fixed order.
// Put templates and lambdas that should be cloned in CONCLUST_INLINE bodies called from a cloned
// plain function: gcc does not clone templates. Keep OpenMP pragmas outside of cloned functions.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__) && \
    !defined(CONCLUST_NO_CLONES)
#if defined(CONCLUST_LEVEL)
#define CONCLUST_CLONES __attribute__((target_clones(CONCLUST_LEVEL, "default")))
#else
#define CONCLUST_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#else
#define CONCLUST_CLONES
#endif

#if defined(__GNUC__)
#define CONCLUST_INLINE inline __attribute__((always_inline))
#else
#define CONCLUST_INLINE inline
#endif
