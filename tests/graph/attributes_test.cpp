#include "graph/attributes.hpp"

#include <gtest/gtest.h>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

TEST(Attributes, GivesTheFallbackForWhatIsMissing) {
  const Attributes attributes;
  EXPECT_EQ(attributes.get_int("group", 1), 1);
  EXPECT_EQ(attributes.get_string("mode", "nearest"), "nearest");
  EXPECT_EQ(attributes.get_ints("pads", {1, 2}), (Ints{1, 2}));
  EXPECT_FALSE(attributes.get_tensor("value"));
}

TEST(Attributes, RefusesTheWrongKind) {
  Attributes attributes;
  attributes.set("axis", std::string("one"));
  expect_error(ErrorCode::corrupt_model, "'axis' is not an integer", [&] { attributes.get_int("axis", 0); });
}

TEST(Attributes, ListsWhatNobodyAskedFor) {
  Attributes attributes;
  attributes.set("axis", int64_t{1});
  attributes.set("momentum", 0.9f);
  attributes.set("surprise", int64_t{1});
  attributes.get_int("axis", 0);
  attributes.ignore("momentum");
  EXPECT_EQ(attributes.unread(), std::vector<std::string>{"surprise"});
}

TEST(Attributes, PrintInAlphabeticalOrder) {
  Attributes attributes;
  attributes.set("strides", Ints{2, 2});
  attributes.set("group", int64_t{1});
  attributes.set("mode", std::string("edge"));
  EXPECT_EQ(to_string(attributes), "group=1 mode=\"edge\" strides=[2,2]");
}

TEST(MakeOperator, NamesAnUnknownOperator) {
  expect_refused({"Frobnicate"}, {}, "Frobnicate", ErrorCode::unsupported);
}

TEST(MakeOperator, NamesAnAttributeThatNobodyUnderstands) {
  expect_refused({"Relu", 13, {{"slope", 0.5f}}}, {counting({1})}, "'slope' of Relu", ErrorCode::unsupported);
}

}  // namespace
}  // namespace vellum::testing
