// The log callback. Vellum itself never prints.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace vellum {

enum class LogLevel : uint8_t { debug, info, warning, error };

// Called with one line at a time, from any thread. Must not throw.
using LogCallback = std::function<void(LogLevel, std::string_view message)>;

}  // namespace vellum
