// The boundary of the library: translates all exceptions to vellum::Error.
#pragma once

#include <exception>
#include <new>
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

}  // namespace vellum
