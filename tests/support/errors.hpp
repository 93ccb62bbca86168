// EXPECT_VELLUM_ERROR(statement, ErrorCode::x, "part of the message", ...): the statement throws
// vellum::Error with that code, and the message has every part and is one line.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "vellum/error.hpp"

namespace vellum::test {

template <typename Statement>
testing::AssertionResult throws_error(Statement&& statement, ErrorCode code,
                                      const std::vector<std::string_view>& parts) {
  try {
    statement();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (error.code() != code) {
      return testing::AssertionFailure()
             << "code " << to_string(error.code()) << ", expected " << to_string(code) << ": " << message;
    }
    for (const std::string_view part : parts) {
      if (message.find(part) == std::string::npos) {
        return testing::AssertionFailure() << "'" << message << "' does not say '" << part << "'";
      }
    }
    if (message.find('\n') != std::string::npos) {
      return testing::AssertionFailure() << "'" << message << "' has more than one line";
    }
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "threw nothing";
}

}  // namespace vellum::test

#define EXPECT_VELLUM_ERROR(statement, code, ...) \
  EXPECT_TRUE(::vellum::test::throws_error([&] { (void)(statement); }, code, {__VA_ARGS__}))
