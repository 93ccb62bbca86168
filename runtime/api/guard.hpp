// The boundary of the library: translates all exceptions to vellum::Error, those of the application's
// functions too, and refuses handles that hold nothing.
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

// Calls a function of the application's; what it throws is no fault of Vellum's. name: "the function that
// reads".
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

// C++ lets an enumeration hold any number of its underlying type. `last`: the last value that it has.
template <typename Choice>
void check_choice(Choice value, Choice last, const char* option) {
  if (value > last)
    throw Error(ErrorCode::invalid_argument,
                std::string(option) + " has no value " + std::to_string(static_cast<unsigned>(value)));
}

// What a handle of the public interface points to. name: "session".
template <typename Pointer>
auto& held_by(const Pointer& pointer, const char* name) {
  if (!pointer)
    throw Error(ErrorCode::invalid_argument,
                "the " + std::string(name) + " holds nothing: it was moved from");
  return *pointer;
}

}  // namespace vellum
