// The boundary of the library: translates every exception to vellum::Error, also exceptions of the
// application's callbacks, and refuses handles that were moved from.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "vellum/error.hpp"
#include "vellum/planner/plan.hpp"

namespace vellum {

template <typename Function>
decltype(auto) guard(Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const Error&) {
    throw;
  } catch (const planner::PlanError& error) {
    throw Error(ErrorCode::invalid_argument, error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "the host is out of memory");
  } catch (const std::exception& error) {
    throw Error(ErrorCode::internal, error.what());
  }
}

// Calls a callback of the application. Its exceptions become Error(cancelled), because they are no fault of
// Vellum. name: the callback's name in messages, "the function that reads".
template <typename Function>
decltype(auto) call_application(const char* name, Function&& function) {
  const auto ended = [&](const std::string& why) {
    return Error(ErrorCode::cancelled, std::string(name) + " threw " + why);
  };
  try {
    return std::forward<Function>(function)();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw ended("an exception: " + std::string(error.what()));
  } catch (...) {
    throw ended("what is no std::exception");
  }
}

// Throws Error(invalid_argument) for a value beyond `last`, the last enumerator: C++ lets an enumeration hold
// any number of its underlying type.
template <typename Choice>
void check_choice(Choice value, Choice last, const char* option) {
  if (value > last)
    throw Error(ErrorCode::invalid_argument,
                std::string(option) + " has no value " + std::to_string(static_cast<unsigned>(value)));
}

// Returns the object that a handle of the public interface points to. Throws Error(invalid_argument) for a
// handle that was moved from. name: the handle's name in the message, "session".
template <typename Pointer>
auto& held_by(const Pointer& pointer, const char* name) {
  if (!pointer)
    throw Error(ErrorCode::invalid_argument,
                "the " + std::string(name) + " holds nothing: it was moved from");
  return *pointer;
}

}  // namespace vellum
