// LiteRT's C interface, and the boundary between its statuses and Vellum's errors. The plug-in calls the
// interpreter through TfLiteContext alone: it takes no symbol of the library that loads it.
#pragma once

#include <tensorflow/lite/core/c/common.h>

#include <exception>
#include <new>
#include <span>
#include <string>

#include "vellum/error.hpp"

namespace vellum::lite {

inline std::span<const int> ints(const TfLiteIntArray* array) {
  return array == nullptr ? std::span<const int>() : std::span(array->data, static_cast<size_t>(array->size));
}

// Throws Error(internal), which names the function, for a status of the interpreter that is an error.
inline void check(TfLiteStatus status, const char* function) {
  if (status != kTfLiteOk)
    throw Error(ErrorCode::internal, std::string("the interpreter's ") + function + " failed");
}

// Calls `work`, and passes the message of its exception to `report`. Returns whether there was none.
template <typename Work, typename Report>
bool guarded(Work&& work, Report&& report) noexcept {
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    report("the host is out of memory");
  } catch (const std::exception& error) {
    report(error.what());
  } catch (...) {
    report("unknown exception");
  }
  return false;
}

// Does the same with the interpreter's error reporter.
template <typename Work>
TfLiteStatus guarded_by(TfLiteContext* context, Work&& work) noexcept {
  const auto report = [&](const char* message) { context->ReportError(context, "Vellum: %s", message); };
  return guarded(work, report) ? kTfLiteOk : kTfLiteError;
}

}  // namespace vellum::lite
