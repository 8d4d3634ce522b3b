/* Atomic operations: one step that no other lane comes between, since lanes change places only where they
 * give way (hooks.cpp), which is before. */
#include "simt_machine.h"

#include <algorithm>
#include <cstring>

namespace simt
{

namespace
{

template <class T> T changed(simt_change change, T old, T value)
{
    switch (change) {
    case SIMT_ATOMIC_ADD:
        if constexpr (std::is_integral_v<T>) /* which wraps, as the device's does */
            return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                                  static_cast<std::make_unsigned_t<T>>(value));
        else
            return old + value;
    case SIMT_ATOMIC_MIN:
        return std::min(old, value);
    case SIMT_ATOMIC_MAX:
        return std::max(old, value);
    default:
        break;
    }
    if constexpr (std::is_integral_v<T>) {
        if (change == SIMT_ATOMIC_AND)
            return static_cast<T>(old & value);
        if (change == SIMT_ATOMIC_OR)
            return static_cast<T>(old | value);
        if (change == SIMT_ATOMIC_XOR)
            return static_cast<T>(old ^ value);
    }
    return value;
}

template <class T> uint64_t apply(simt_change change, void *at, uint64_t bits, uint64_t compare)
{
    T old, value, result;
    std::memcpy(&old, at, sizeof old);
    std::memcpy(&value, &bits, sizeof value);
    if (change == SIMT_ATOMIC_CAS) {
        result = std::memcmp(&old, &compare, sizeof old) == 0 ? value : old;
    } else {
        result = changed(change, old, value);
    }
    std::memcpy(at, &result, sizeof result);
    uint64_t was = 0;
    std::memcpy(&was, &old, sizeof old);
    return was;
}

} // namespace

} // namespace simt

using namespace simt;

extern "C" uint64_t simt_atomic(simt_change change, simt_type type, void *at, uint64_t value,
                                uint64_t compare)
{
    access_word(at, type == SIMT_INT || type == SIMT_UINT || type == SIMT_FLOAT ? 4 : 8,
                READS | WRITES | STRONG, __builtin_return_address(0));
    switch (type) {
    case SIMT_INT:
        return apply<int>(change, at, value, compare);
    case SIMT_UINT:
        return apply<unsigned>(change, at, value, compare);
    case SIMT_INT64:
        return apply<long long>(change, at, value, compare);
    case SIMT_UINT64:
        return apply<unsigned long long>(change, at, value, compare);
    case SIMT_FLOAT:
        return apply<float>(change, at, value, compare);
    default:
        return apply<double>(change, at, value, compare);
    }
}
