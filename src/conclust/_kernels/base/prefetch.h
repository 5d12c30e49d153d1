// prefetch(address): prefetches a cache line if the compiler supports it; for_writing: with the
// intent to write.
#pragma once

namespace conclust {

inline void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

inline void prefetch_for_writing(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address, 1);
#else
    (void)address;
#endif
}

}  // namespace conclust
