// ONNX Runtime's functions, and the boundary between its statuses and Vellum's errors.
#pragma once

#include <onnxruntime_c_api.h>

#include <exception>
#include <new>
#include <string>
#include <vector>

#include "vellum/error.hpp"

namespace vellum::ort {

// The version of the interface whose members are used. Later runtimes provide them, too.
inline constexpr uint32_t kApiVersion = 24;
// The first version with profilers, which are used if the runtime has them.
inline constexpr uint32_t kProfilerVersion = 25;

// Returns the functions of the runtime that loaded this library. Call set_api() before.
const OrtApi& api();
const OrtEpApi& ep_api();
// Returns the version for structs whose members the runtime calls: kProfilerVersion, or kApiVersion.
uint32_t supported_version();
// Throws Error(unsupported) for a runtime that is older than 1.24.
void set_api(const OrtApiBase& base);

// Throws an Error with the message of a status that is not null, and releases it.
void check(OrtStatus* status);
// Returns a status that the runtime releases.
OrtStatus* to_status(const Error& error) noexcept;

// Calls `work` and returns null, or the status of its exception.
template <typename Work>
OrtStatus* guarded(Work&& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (const Error& error) {
    return to_status(error);
  } catch (const std::bad_alloc&) {
    return api().CreateStatus(ORT_RUNTIME_EXCEPTION, "Vellum: the host is out of memory");
  } catch (const std::exception& error) {
    return api().CreateStatus(ORT_RUNTIME_EXCEPTION, error.what());
  } catch (...) {
    return api().CreateStatus(ORT_RUNTIME_EXCEPTION, "Vellum: unknown exception");
  }
}

// Calls a getter of the runtime, whose last argument receives the result.
template <typename Result, typename Getter, typename... Arguments>
Result get(Getter getter, Arguments... arguments) {
  Result result{};
  check(getter(arguments..., &result));
  return result;
}

// Returns the elements of a list for which the runtime has two getters: one for its size, one for its
// elements.
template <typename Element, typename Size, typename Elements, typename Owner>
std::vector<Element> list(Size size, Elements elements, Owner* owner) {
  std::vector<Element> result(get<size_t>(size, owner));
  if (!result.empty()) check(elements(owner, result.data(), result.size()));
  return result;
}

// Appends a line to the session's log at level INFO, which the runtime does not show by default.
void log_line(const OrtLogger* logger, const std::string& line) noexcept;

}  // namespace vellum::ort
