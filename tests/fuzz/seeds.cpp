// Writes the first inputs of the fuzz targets: seeds FOLDER makes FOLDER/onnx, FOLDER/file and FOLDER/text.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "differential/random_graph.hpp"
#include "support/tflite_builder.hpp"
#include "tune/table_file.hpp"
#include "vellum/caps.hpp"
#include "vellum/pack.hpp"

namespace vellum::test {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string tflite_model() {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 4, 3, 2}), w = m.floats("w", {2, 1, 1, 2}, {1, 0.5f, -1, 2}),
             b = m.floats("b", {2}, {1, 2}), shape = m.ints("shape", {1, -1}),
             c = m.tensor("c", {1, 4, 3, 2}), p = m.tensor("p", {1, 2, 1, 2}), r = m.tensor("r", {1, 4}),
             y = m.tensor("y", {1, 4});
  m.op(3, {x, w, b}, {c}, tfl::BuiltinOptions::Conv2DOptions,
       tfl::CreateConv2DOptions(m.builder(), tfl::Padding::same, 1, 1, tfl::FusedActivation::relu6).Union());
  m.op(17, {c}, {p}, tfl::BuiltinOptions::Pool2DOptions,
       tfl::CreatePool2DOptions(m.builder(), tfl::Padding::valid, 2, 2, 2, 2).Union());
  m.op(22, {p, shape}, {r});
  m.op(25, {r}, {y}, tfl::BuiltinOptions::SoftmaxOptions, tfl::CreateSoftmaxOptions(m.builder(), 1).Union());
  return m.finish({x}, {y});
}

void write_seeds(const fs::path& folder) {
  const fs::path onnx = folder / "onnx", file = folder / "file", text = folder / "text";
  for (const fs::path& each : {onnx, file, text}) fs::create_directories(each);
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const std::string bytes = random_graph(seed).model.bytes();
    if (bytes.size() <= 8192) write(onnx / ("graph" + std::to_string(seed)), bytes);
  }
  write(file / "tflite", tflite_model());
  const Caps caps = Caps::android_baseline_2022();
  const fs::path model = onnx / "graph3", bundle = file / "bundle";
  pack(model, bundle, caps);
  write(text / "caps", "c" + caps.json());
  TuningTable table;
  table.operators["Conv 1x1"] = {{"tile 4x2", 12.5}, {"tile 2x2", 20}};
  write(text / "table", "t" + to_json(table, DeviceCaps{}));
  write(text / "records", "r# a comment\nid,first,last,size\na,0,2,64\n\"b \"\"c\"\"\",1,3,128\n");
}

}  // namespace
}  // namespace vellum::test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: seeds FOLDER\n";
    return 1;
  }
  vellum::test::write_seeds(argv[1]);
}
