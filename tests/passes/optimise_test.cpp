// Passes together, and each of them switched off.
#include "passes/pass_harness.hpp"
#include "support/errors.hpp"

namespace vellum::test {
namespace {

// A network that every pass has something to do in.
OnnxModel network() {
  OnnxModel m;
  m.input("x", {1, 4, 6, 6})
      .initializer("w", random_tensor({4, 4, 1, 1}, 1))
      .initializer("same", random_tensor({4, 4, 1, 1}, 1));
  m.node("Identity", {"x"}, {"i"}).node("Conv", {"i", "w"}, {"a"}).node("Add", {"a", "x"}, {"b"});
  m.node("Sigmoid", {"b"}, {"s"}).node("Mul", {"b", "s"}, {"c"}).node("Conv", {"c", "same"}, {"d"});
  m.node("Relu", {"d"}, {"y"}).node("Exp", {"d"}, {"unused"}).output("y");
  return m;
}

TEST(Optimise, AnyPassCanBeLeftOut) {
  for (const std::string& name : pass_names()) {
    SCOPED_TRACE(name);
    const std::vector<std::string> disabled{name};
    after([&](Graph& graph) { graph = optimise(graph, {}, disabled); }, network());
  }
}

// Operators with several outputs may stand without their first once dead code is gone.
TEST(Optimise, TheFirstOutputOfAnOperatorMayBeUnread) {
  OnnxModel m;
  m.input("x", {1, 4, 6, 6}).initializer("zeros", HostTensor(DType::f32, {1, 2, 6, 6}));
  m.node("Split", {"x"}, {"unread", "half"}, attributes({{"axis", int64_t{1}}}));
  m.node("Sigmoid", {"half"}, {"s"}).node("Mul", {"half", "s"}, {"c"});
  m.node("Concat", {"c", "zeros"}, {"d"}, attributes({{"axis", int64_t{1}}})).node("Relu", {"d"}, {"y"});
  m.output("y");
  EXPECT_EQ(types(after([&](Graph& graph) { graph = optimise(graph, {}); }, m)), "Split Silu Pad Relu");
}

TEST(Optimise, APassThatIsLeftOutChangesNothing) {
  const std::vector<std::string> disabled{"fuse_activations", "fuse_residual"};
  const Graph all = after([&](Graph& graph) { graph = optimise(graph, {}); }, network());
  const Graph fewer = after([&](Graph& graph) { graph = optimise(graph, {}, disabled); }, network());
  EXPECT_EQ(types(all), "Conv Conv");
  EXPECT_EQ(types(fewer), "Conv Add Silu Conv Relu");
}

TEST(Optimise, UnknownPassIsRefused) {
  const std::vector<std::string> disabled{"fuse_everything"};
  EXPECT_VELLUM_ERROR(optimise(network().graph(), {}, disabled), ErrorCode::invalid_argument,
                      "fuse_everything", "remove_identities");
}

}  // namespace
}  // namespace vellum::test
