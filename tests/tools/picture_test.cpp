// Pictures as inputs of `vellum run`, and the classes that it prints.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "common/image.hpp"
#include "common/npy.hpp"
#include "run_tool.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using nlohmann::json;

// The mean of each channel.
OnnxModel classifier(const Shape& input, DType dtype = DType::f32) {
  OnnxModel model;
  model.input("image", input, dtype);
  if (dtype != DType::f32) model.node("Cast", {"image"}, {"floats"}, attributes({{"to", int64_t{1}}}));
  model.node("GlobalAveragePool", {dtype == DType::f32 ? "image" : "floats"}, {"means"})
      .node("Flatten", {"means"}, {"scores"})
      .output("scores");
  return model;
}

class Pictures : public testing::Test {
 protected:
  // Left half of one colour, right half of another.
  std::string picture(std::array<uint8_t, 3> left, std::array<uint8_t, 3> right) const {
    samples::Image image = samples::make_image(40, 20);
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 40; ++x) std::ranges::copy(x < 20 ? left : right, image.pixel(x, y));
    samples::write_png(folder / "photo.png", image);
    return (folder / "photo.png").string();
  }
  std::vector<std::string> arguments(const OnnxModel& model, const std::string& photo,
                                     const std::vector<std::string>& more = {}) const {
    model.save(folder / "model.onnx");
    std::vector<std::string> all{"run", (folder / "model.onnx").string(), "-i",          "image=" + photo,
                                 "-o",  (folder / "results").string(),    "--validation"};
    const char* limits = std::getenv("VELLUM_TEST_LIMITS");
    if (limits && std::string(limits) == "android_baseline_2022")
      all.insert(all.end(), {"--limits", "android-baseline-2022"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // The scores themselves, from what is written.
  std::vector<float> scores(const OnnxModel& model, const std::string& photo,
                            const std::vector<std::string>& more) const {
    run_json(arguments(model, photo, more));
    const samples::NpyArray array = samples::read_npy(folder / "results/scores.npy");
    std::vector<float> values(array.data.size() / sizeof(float));
    std::memcpy(values.data(), array.data.data(), values.size() * sizeof(float));
    return values;
  }
  TempFolder folder;
};

TEST_F(Pictures, AClassifiersBestClassesArePrinted) {
  const std::string photo = picture({10, 10, 250}, {10, 90, 250});
  const std::string labels = folder.write("labels.txt", "red\ngreen\n").string();
  const json document =
      run_json(arguments(classifier({1, 3, 8, 8}), photo, {"--labels", labels, "--top", "2"}));
  ASSERT_EQ(document["classes"].size(), 2u);
  EXPECT_EQ(document["classes"][0]["index"], 2);
  EXPECT_EQ(document["classes"][0]["label"], "class 2") << "there are two labels";
  EXPECT_EQ(document["classes"][1]["label"], "green");
  EXPECT_GT(document["classes"][0]["probability"], document["classes"][1]["probability"]);
  const Finished text = run_tool(arguments(classifier({1, 3, 8, 8}), photo, {"--labels", labels}));
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("%  class 2\n"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("%  red\n"), std::string::npos) << text.out;
}

TEST_F(Pictures, AreNormalisedAsAsked) {
  const std::string photo = picture({51, 102, 204}, {51, 102, 204});
  const OnnxModel model = classifier({1, 3, 8, 8});
  const auto expect = [&](const std::vector<std::string>& options, std::array<float, 3> want) {
    const std::vector<float> got = scores(model, photo, options);
    ASSERT_EQ(got.size(), 3u);
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(got[c], want[c], 1e-3f) << options.front() << " " << c;
  };
  expect({"--values", "unit"}, {0.2f, 0.4f, 0.8f});
  expect({"--values", "bytes"}, {51, 102, 204});
  expect({"--values", "signed"}, {-0.6f, -0.2f, 0.6f});
  expect({"--bgr", "--values", "unit"}, {0.8f, 0.4f, 0.2f});
  expect({"--fit", "crop"}, {(0.2f - 0.485f) / 0.229f, (0.4f - 0.456f) / 0.224f, (0.8f - 0.406f) / 0.225f});
  expect({"--mean", "0.1", "0.2", "0.3", "--deviation", "1", "2", "0.5"}, {0.1f, 0.1f, 1});
}

TEST_F(Pictures, FillTheInputAsAsked) {
  const std::string photo = picture({255, 255, 255}, {255, 0, 255});
  const auto green = [&](const char* fit) {
    return scores(classifier({1, 3, 8, 8}), photo, {"--values", "unit", "--fit", fit})[1];
  };
  EXPECT_NEAR(green("stretch"), 0.5f, 1e-3f);
  EXPECT_NEAR(green("crop"), 0.5f, 1e-3f);
  EXPECT_NEAR(green("letterbox"), 0.25f, 1e-3f) << "half of the input is black";
}

TEST_F(Pictures, OpenShapesAndInputsOfBytes) {
  const std::string photo = picture({10, 20, 30}, {10, 20, 30});
  EXPECT_NEAR(scores(classifier({1, 3, kUnknownDim, kUnknownDim}), photo,
                     {"--shape", "image=1x3x6x8", "--values", "bytes"})[2],
              30, 1e-3f);
  EXPECT_NEAR(scores(classifier({1, 3, 8, 8}, DType::u8), photo, {})[1], 20, 1e-3f);
  EXPECT_NEAR(scores(classifier({1, 3, 8, 8}, DType::i8), photo, {})[1], 20 - 128, 1e-3f);
}

TEST_F(Pictures, WhatTakesNoneIsRefusedByName) {
  const std::string photo = picture({0, 0, 0}, {0, 0, 0});
  EXPECT_TRUE(fails(arguments(classifier({1, 2, 8, 8}), photo), 1, {"'image'", "1x2x8x8", "takes no frame"}));
  EXPECT_TRUE(fails(arguments(classifier({1, 3, kUnknownDim, kUnknownDim}), photo), 1,
                    {"--shape image=1x3x224x224"}));
  EXPECT_TRUE(
      fails(arguments(classifier({1, 3, 8, 8}), photo, {"-i", "image=" + photo}), 1, {"given twice"}));
  const std::string cut = folder.write("cut.png", "\x89PNG\r\n").string();
  EXPECT_TRUE(fails(arguments(classifier({1, 3, 8, 8}), cut), 1, {"cut.png"}));
  EXPECT_TRUE(fails(arguments(classifier({1, 3, 8, 8}), photo, {"--fit", "squeeze"}), 2, {"--fit"}));
}

}  // namespace
}  // namespace vellum::test
