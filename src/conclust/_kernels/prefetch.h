// prefetch(address): asks for a cache line to be brought near, where the compiler can.
#pragma once

namespace conclust {

inline void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

}  // namespace conclust
