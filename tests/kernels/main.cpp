// Runs the tests as gtest_main does, but a part of them (GTEST_TOTAL_SHARDS) is of whole suites: the tests of
// a suite share out the pairs of parameter values that they cover (kernel_harness.hpp).
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/environment.hpp"

namespace {

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

// Every nth suite of the program's.
std::string suites_of_part(int part, int parts) {
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  std::string filter;
  for (int i = part; i < all.total_test_suite_count(); i += parts)
    filter += (filter.empty() ? "" : ":") + std::string(all.GetTestSuite(i)->name()) + ".*";
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int parts = number_in("GTEST_TOTAL_SHARDS"), part = number_in("GTEST_SHARD_INDEX");
  if (parts <= 1 || GTEST_FLAG_GET(filter) != "*") return RUN_ALL_TESTS();
  GTEST_FLAG_SET(filter, suites_of_part(part, parts));
  const vellum::test::EnvironmentVariable no_total("GTEST_TOTAL_SHARDS", nullptr),
      no_index("GTEST_SHARD_INDEX", nullptr);
  return RUN_ALL_TESTS();
}
