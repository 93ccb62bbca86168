// Pictures as inputs of `vellum run`, and the classes that it prints.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "io/files.hpp"
#include "io/image.hpp"
#include "io/npy.hpp"
#include "run_tool.hpp"
#include "samples/picture_files.hpp"
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
    io::Image image = io::make_image(40, 20);
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 40; ++x) std::ranges::copy(x < 20 ? left : right, image.pixel(x, y));
    io::write_image(folder / "photo.png", image);
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
  std::string file(const std::string& name, const samples::FileBytes& bytes) const {
    io::write_file(folder / name, bytes);
    return (folder / name).string();
  }
  // The scores themselves, from what is written.
  std::vector<float> scores(const OnnxModel& model, const std::string& photo,
                            const std::vector<std::string>& more) const {
    run_json(arguments(model, photo, more));
    const io::NpyArray array = io::read_npy(folder / "results/scores.npy");
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
  EXPECT_NE(document["warnings"][0].get<std::string>().find("2 labels; the network has 3 classes"),
            std::string::npos)
      << document;
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
  EXPECT_NEAR(scores(classifier({1, 3, 8, 8}, DType::f16), photo, {"--values", "bytes"})[1], 20, 1e-3f);
}

// One pixel: red 51, green 102, blue 204, alpha 153 of 255.
TEST_F(Pictures, TheFourthChannelIsAlphaInTheSameRange) {
  const std::string photo =
                        file("rgba.png", samples::png_file(1, 1, {.color_type = 6}, {51, 102, 204, 153}, 4)),
                    opaque = file("rgb.png", samples::png_file(1, 1, {}, {51, 102, 204}, 3)),
                    grey = file("grey.png", samples::png_file(1, 1, {.color_type = 4}, {51, 153}, 2));
  for (const bool last : {false, true}) {
    OnnxModel model;
    model.input("image", last ? Shape{1, 2, 2, 4} : Shape{1, 4, 2, 2})
        .node("ReduceMean", {"image"}, {"scores"},
              attributes({{"axes", last ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 3}}}))
        .output("scores");
    const auto alpha = [&](const std::string& name, const std::vector<std::string>& options) {
      const std::vector<float> values = scores(model, name, options);
      return values.size() == 4 ? values[3] : NAN;
    };
    for (const auto& [values, want, full] : {std::tuple{"unit", 0.6f, 1.0f},
                                             {"bytes", 153.0f, 255.0f},
                                             {"signed", 0.2f, 1.0f},
                                             {"imagenet", 0.6f, 1.0f}}) {
      EXPECT_NEAR(alpha(photo, {"--values", values}), want, 1e-3f) << values;
      EXPECT_NEAR(alpha(grey, {"--values", values, "--bgr"}), want, 1e-3f) << values;
      EXPECT_NEAR(alpha(opaque, {"--values", values}), full, 1e-3f) << values;
      if (last) break;
    }
    EXPECT_NEAR(alpha(photo, {"--mean", "0.1", "0.2", "0.3", "--values", "unit"}), 0.6f, 1e-3f);
  }
}

TEST_F(Pictures, AlphaThatANetworkDoesNotTakeIsNamed) {
  const std::string photo =
      file("rgba.png", samples::png_file(1, 1, {.color_type = 6}, {51, 102, 204, 153}, 4));
  const json document = run_json(arguments(classifier({1, 3, 8, 8}), photo));
  ASSERT_EQ(document["warnings"].size(), 1u) << document;
  EXPECT_NE(document["warnings"][0].get<std::string>().find("rgba.png: the network takes no alpha"),
            std::string::npos);
  const std::string opaque = picture({1, 2, 3}, {4, 5, 6});
  EXPECT_FALSE(run_json(arguments(classifier({1, 3, 8, 8}), opaque)).contains("warnings"));
}

TEST_F(Pictures, OneChannelIsLuma) {
  const std::string photo = picture({51, 102, 204}, {51, 102, 204});
  const float luma = 0.299f * 51 + 0.587f * 102 + 0.114f * 204;
  EXPECT_NEAR(scores(classifier({1, 1, 8, 8}), photo, {"--values", "bytes", "--fit", "stretch"})[0], luma,
              1e-2f);
  EXPECT_NEAR(scores(classifier({1, 1, 8, 8}), photo, {"--values", "unit", "--fit", "stretch"})[0],
              luma / 255, 1e-3f);
}

TEST_F(Pictures, AreTurnedUpright) {
  io::Image image = io::make_image(32, 16);  // the left half is white
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x) std::fill_n(image.pixel(x, y), 3, uint8_t{255});
  io::write_image(folder / "photo.jpg", image);
  const samples::FileBytes jpeg = io::read_file(folder / "photo.jpg");
  const auto first_row = [&](uint32_t orientation) {
    const std::string photo =
        file("turned.jpg", samples::jpeg_with_exif(jpeg, samples::exif_data(orientation, {})));
    OnnxModel model;
    model.input("image", {1, 3, 8, 8})
        .node("ReduceMean", {"image"}, {"scores"}, attributes({{"axes", std::vector<int64_t>{1, 3}}}))
        .output("scores");
    return scores(model, photo, {"--values", "unit", "--fit", "stretch"})[0];
  };
  EXPECT_NEAR(first_row(1), 0.5f, 0.02f);
  EXPECT_NEAR(first_row(6), 1.0f, 0.02f) << "the left is up";
  EXPECT_NEAR(first_row(8), 0.0f, 0.02f) << "the left is down";
}

TEST_F(Pictures, SixteenBitsReachInputsOfFloats) {
  const std::string photo =
      file("deep.png", samples::png_file(1, 1, {.depth = 16}, {0x33, 0x80, 0x66, 0x01, 0xcc, 0xff}, 6));
  const auto expect = [&](DType dtype, const std::vector<std::string>& options, std::array<float, 3> want,
                          float tolerance) {
    const std::vector<float> got = scores(classifier({1, 3, 8, 8}, dtype), photo, options);
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(got.at(c), want[c], tolerance) << name(dtype) << c;
  };
  const std::array<float, 3> bytes{0x3380 / 257.0f, 0x6601 / 257.0f, 0xccff / 257.0f};
  expect(DType::f32, {"--values", "bytes"}, bytes, 1e-3f);
  expect(DType::f32, {"--values", "unit", "--bgr"}, {bytes[2] / 255, bytes[1] / 255, bytes[0] / 255}, 1e-5f);
  expect(DType::f16, {"--values", "bytes"}, bytes, 0.1f);
  expect(DType::u8, {}, {51, 102, 204}, 1e-3f);
}

// A deep picture whose values bytes hold is the same as the picture in bytes, however it fills the input.
TEST_F(Pictures, SixteenBitsFillTheInputAsEightDo) {
  samples::FileBytes bytes, words;
  for (int i = 0; i < 13 * 9 * 4; ++i) {
    bytes.push_back(static_cast<uint8_t>(i * i % 251));
    words.insert(words.end(), 2, bytes.back());
  }
  const std::string shallow = file("8.png", samples::png_file(13, 9, {.color_type = 6}, bytes, 13 * 4)),
                    deep = file("16.png",
                                samples::png_file(13, 9, {.depth = 16, .color_type = 6}, words, 13 * 8));
  for (const Shape& shape : {Shape{1, 4, 5, 6}, Shape{1, 40, 30, 4}, Shape{1, 1, 9, 13}, Shape{1, 4, 20, 7}})
    for (const char* fit : {"crop", "letterbox", "stretch"}) {
      OnnxModel model;
      model.input("image", shape).node("Relu", {"image"}, {"scores"}).output("scores");
      const std::vector<float> want = scores(model, shallow, {"--values", "unit", "--fit", fit}),
                               got = scores(model, deep, {"--values", "unit", "--fit", fit});
      ASSERT_EQ(want.size(), got.size());
      for (size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(want[i], got[i], 1e-4f) << fit << to_string(shape) << i;
    }
}

TEST_F(Pictures, FormatsAreToldByContents) {
  io::Image image = io::make_image(8, 8);
  for (uint8_t& byte : image.rgb) byte = 51;
  for (const char* written : {"p.bmp", "p.jpg", "p.png"}) {
    io::write_image(folder / written, image);
    std::filesystem::rename(folder / written, folder / "picture.npy");
    EXPECT_NEAR(scores(classifier({1, 3, 8, 8}), (folder / "picture.npy").string(), {"--values", "unit"})[1],
                0.2f, 0.01f)
        << written;
  }
  const std::string webp = folder.write("p.webp", std::string("RIFF\x10\0\0\0WEBPVP8 ", 16)).string();
  EXPECT_TRUE(
      fails(arguments(classifier({1, 3, 8, 8}), webp), 1, {"p.webp", "a WebP picture", "PNG, JPEG and BMP"}));
  const std::string text = folder.write("p.txt", "a text").string();
  EXPECT_TRUE(fails(arguments(classifier({1, 3, 8, 8}), text), 1, {"p.txt", ".npy"}));
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
