// Models load from files of any name: letters of several scripts, also beyond 16 bits, spaces, and paths
// beyond the 260 characters of old Windows.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "import/import.hpp"
#include "platform/utf8_path.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/temp_folder.hpp"

namespace vellum::test {
namespace {

namespace fs = std::filesystem;
using platform::utf8_path;

void expect_loads(const fs::path& file) {
  OnnxModel model;
  model.input("x", {4}).node("Relu", {"x"}, {"y"}).output("y");
  fs::create_directories(file.parent_path());
  model.save(file);
  const Graph graph = import_model(file);
  EXPECT_EQ(graph.nodes.size(), 1u);
}

TEST(FileNames, OfSeveralScripts) {
  const TempFolder folder;
  for (const char* name : {"two words.onnx", "größe.onnx", "модель/文字 🙂.onnx"})
    expect_loads(folder.path() / utf8_path(name));
  EXPECT_VELLUM_ERROR(import_model(folder.path() / utf8_path("fehlt für 文字.onnx")), ErrorCode::not_found,
                      "fehlt für 文字.onnx: ");
}

TEST(FileNames, BeyondTheOldLimitOfWindows) {
  const TempFolder folder;
  fs::path file = folder.path();
#ifdef _WIN32
  file =
      L"\\\\?\\" + file.make_preferred().native();  // by which a program without a manifest opens long paths
#endif
  for (int i = 0; i < 6; ++i) file /= std::string(60, static_cast<char>('a' + i));
  expect_loads(file / "model.onnx");
}

}  // namespace
}  // namespace vellum::test
