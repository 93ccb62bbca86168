// Passes together, and each of them switched off; their files and their list in the documentation.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

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
  const std::vector<std::string> disabled{"fuse_activations", "fuse_residual", "merge_convolutions"};
  const Graph all = after([&](Graph& graph) { graph = optimise(graph, {}); }, network());
  const Graph fewer = after([&](Graph& graph) { graph = optimise(graph, {}, disabled); }, network());
  EXPECT_EQ(types(all), "Conv Conv");
  EXPECT_EQ(types(fewer), "Conv Add Silu Conv Relu");
}

const std::filesystem::path kSource = VELLUM_SOURCE_FOLDER;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  EXPECT_TRUE(stream) << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

// The first group of each match, in order.
std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    found.push_back((*match)[1]);
  return found;
}

TEST(PassTable, EachPassIsInTheFileOfItsName) {
  const auto passes = kSource / "runtime/passes";
  for (const std::string& name : pass_names()) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(passes))
      if (entry.is_directory() && exists(entry.path() / (name + ".cpp")))
        files.push_back((entry.path() / (name + ".cpp")).string());
    ASSERT_EQ(files.size(), 1u) << name;
    EXPECT_NE(text_of(files[0]).find("\nvoid " + name + "(Graph& graph) {"), std::string::npos) << files[0];
  }
}

TEST(PassTable, EachDeclaredPassRuns) {
  const std::string header = text_of(kSource / "runtime/passes/passes.hpp");
  auto declared = matches(header, "\nvoid ([a-z_]+)\\(Graph& graph\\);");
  auto names = pass_names();
  std::sort(declared.begin(), declared.end());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(declared, names);
}

// The table's first column names one pass or several.
TEST(PassTable, TheDocumentationListsEachPass) {
  const std::string models = text_of(kSource / "docs/models.md");
  const size_t begin = models.find("## Passes, in their order");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = models.substr(begin, models.find("\n## ", begin + 1) - begin);
  std::vector<std::string> listed;
  for (const std::string& cell : matches(section, "\n\\| (`[^|]*) \\|"))
    for (std::string& name : matches(cell, "`([a-z_]+)`")) listed.push_back(std::move(name));
  auto names = pass_names();
  names.push_back("infer_shapes_and_fold");
  std::sort(listed.begin(), listed.end());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(listed, names);
}

TEST(Optimise, UnknownPassIsRefused) {
  const std::vector<std::string> disabled{"fuse_everything"};
  EXPECT_VELLUM_ERROR(optimise(network().graph(), {}, disabled), ErrorCode::invalid_argument,
                      "fuse_everything", "remove_identities");
}

}  // namespace
}  // namespace vellum::test
