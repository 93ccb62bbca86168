// Writes the first inputs of the fuzz targets: seeds FOLDER makes FOLDER/onnx, FOLDER/tflite, FOLDER/file
// and FOLDER/text.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "differential/random_graph.hpp"
#include "exec/kernel_verdicts.hpp"
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

// Conv, MaxPool, Reshape, Softmax.
std::string tflite_layers() {
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

// DepthwiseConv, TransposeConv, ResizeBilinear, PRelu.
std::string tflite_windows() {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 4, 4, 2}), w = m.floats("w", {1, 1, 1, 2}, {1, -1}),
             d = m.tensor("d", {1, 4, 4, 2}), size = m.ints("size", {1, 8, 8, 1}),
             k = m.floats("k", {1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), t = m.tensor("t", {1, 8, 8, 1}),
             smaller = m.ints("smaller", {4, 4}), r = m.tensor("r", {1, 4, 4, 1}),
             slope = m.floats("slope", {1, 1, 1}, {0.1f}), y = m.tensor("y", {1, 4, 4, 1});
  m.op(4, {x, w, -1}, {d}, tfl::BuiltinOptions::DepthwiseConv2DOptions,
       tfl::CreateDepthwiseConv2DOptions(m.builder(), tfl::Padding::same, 1, 1).Union());
  m.op(67, {size, k, d}, {t}, tfl::BuiltinOptions::TransposeConvOptions,
       tfl::CreateTransposeConvOptions(m.builder(), tfl::Padding::same, 2, 2).Union());
  m.op(23, {t, smaller}, {r}, tfl::BuiltinOptions::ResizeBilinearOptions,
       tfl::CreateResizeBilinearOptions(m.builder(), false, true).Union());
  m.op(54, {r, slope}, {y});
  return m.finish({x}, {y});
}

// Pad, StridedSlice, Transpose, Split, Pack, Concatenation, Gather, Mean.
std::string tflite_movement() {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 4, 4, 2}),
             pads = m.constant<int32_t>("pads", {4, 2}, {0, 0, 1, 1, 0, 1, 0, 0}, tfl::TensorType::int32),
             p = m.tensor("p", {1, 6, 5, 2}), begin = m.ints("begin", {0, 1, 0, 0}),
             end = m.ints("end", {1, 5, 4, 2}), strides = m.ints("strides", {1, 2, 1, 1}),
             s = m.tensor("s", {1, 2, 4, 2}), order = m.ints("order", {0, 3, 1, 2}),
             t = m.tensor("t", {1, 2, 2, 4}), axis = m.ints("axis", {3}), a = m.tensor("a", {1, 2, 2, 2}),
             b = m.tensor("b", {1, 2, 2, 2}), q = m.tensor("q", {2, 1, 2, 2, 2}),
             c = m.tensor("c", {1, 2, 2, 4}), rows = m.ints("rows", {1, 0, 1}),
             g = m.tensor("g", {1, 3, 2, 4}), axes = m.ints("axes", {1, 2}), y = m.tensor("y", {1, 4});
  m.op(34, {x, pads}, {p});
  m.op(45, {p, begin, end, strides}, {s}, tfl::BuiltinOptions::StridedSliceOptions,
       tfl::CreateStridedSliceOptions(m.builder()).Union());
  m.op(39, {s, order}, {t});
  m.op(49, {axis, t}, {a, b}, tfl::BuiltinOptions::SplitOptions,
       tfl::CreateSplitOptions(m.builder(), 2).Union());
  m.op(83, {a, b}, {q}, tfl::BuiltinOptions::PackOptions, tfl::CreatePackOptions(m.builder(), 2, 0).Union());
  m.op(2, {a, b}, {c}, tfl::BuiltinOptions::ConcatenationOptions,
       tfl::CreateConcatenationOptions(m.builder(), 3).Union());
  m.op(36, {c, rows}, {g}, tfl::BuiltinOptions::GatherOptions,
       tfl::CreateGatherOptions(m.builder(), 1).Union());
  m.op(40, {g, axes}, {y}, tfl::BuiltinOptions::ReducerOptions,
       tfl::CreateReducerOptions(m.builder(), false).Union());
  return m.finish({x}, {y, q});
}

// FullyConnected, Mul, TopK, ArgMax, Cast, Select.
std::string tflite_products() {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 3}), w = m.floats("w", {4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
             b = m.floats("b", {4}, {1, 2, 3, 4}), f = m.tensor("f", {2, 4}), s = m.tensor("s", {2, 4}),
             k = m.constant<int32_t>("k", {}, {2}, tfl::TensorType::int32),
             values = m.tensor("values", {2, 2}), places = m.tensor("places", {2, 2}, tfl::TensorType::int32),
             axis = m.ints("axis", {1}), best = m.tensor("best", {2}, tfl::TensorType::int32),
             y = m.tensor("y", {2, 2}), larger = m.tensor("larger", {2, 4}, tfl::TensorType::boolean),
             z = m.tensor("z", {2, 4});
  m.op(9, {x, w, b}, {f}, tfl::BuiltinOptions::FullyConnectedOptions,
       tfl::CreateFullyConnectedOptions(m.builder(), tfl::FusedActivation::relu6).Union());
  m.op(18, {f, f}, {s}, tfl::BuiltinOptions::MulOptions, tfl::CreateMulOptions(m.builder()).Union());
  m.op(48, {s, k}, {values, places});
  m.op(56, {s, axis}, {best});
  m.op(53, {places}, {y});
  m.op(61, {f, s}, {larger});
  m.op(64, {larger, f, s}, {z});
  return m.finish({x}, {y, best, values, z});
}

// Quantize, Conv of bytes, Add, Dequantize.
std::string tflite_quantised() {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 4, 4, 2});
  const auto quantised = [&](const char* name, float scale, int64_t zero) {
    m.quantise_next({scale}, {zero});
    return m.tensor(name, {1, 4, 4, 2}, tfl::TensorType::int8);
  };
  const auto q = quantised("q", 0.05f, -3);
  m.quantise_next({0.1f, 0.2f}, {0, 0});
  const auto w = m.constant<int8_t>("w", {2, 1, 1, 2}, {1, 2, 3, -4}, tfl::TensorType::int8);
  m.quantise_next({0.005f, 0.01f}, {0, 0});
  const auto b = m.constant<int32_t>("b", {2}, {10, -10}, tfl::TensorType::int32);
  const auto c = quantised("c", 0.1f, 4), s = quantised("s", 0.2f, 0), y = m.tensor("y", {1, 4, 4, 2});
  m.op(114, {x}, {q});
  m.op(3, {q, w, b}, {c}, tfl::BuiltinOptions::Conv2DOptions,
       tfl::CreateConv2DOptions(m.builder(), tfl::Padding::same, 1, 1).Union());
  m.op(0, {c, q}, {s}, tfl::BuiltinOptions::AddOptions, tfl::CreateAddOptions(m.builder()).Union());
  m.op(6, {s}, {y});
  return m.finish({x}, {y});
}

void write_seeds(const fs::path& folder) {
  const fs::path onnx = folder / "onnx", tflite = folder / "tflite", file = folder / "file",
                 text = folder / "text";
  for (const fs::path& each : {onnx, tflite, file, text}) fs::create_directories(each);
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const std::string bytes = random_graph(seed).model.bytes();
    if (bytes.size() <= 8192) write(onnx / ("graph" + std::to_string(seed)), bytes);
  }
  write(file / "tflite", tflite_layers());
  write(tflite / "layers", tflite_layers());
  write(tflite / "windows", tflite_windows());
  write(tflite / "movement", tflite_movement());
  write(tflite / "products", tflite_products());
  write(tflite / "quantised", tflite_quantised());
  write(tflite / "stream", stream_model());
  const Caps caps = Caps::android_baseline_2022();
  const fs::path model = onnx / "graph3", bundle = file / "bundle";
  pack(model, bundle, caps);
  write(text / "caps", "c" + caps.json());
  TuningTable table;
  table.operators["Conv 1x1"] = {{"tile 4x2", 12.5}, {"tile 2x2", 20}};
  write(text / "table", "t" + to_json(table, DeviceCaps{}));
  const KernelVerdicts verdicts{
      {"conv | 4x2 | x=BUFFER_F32 |"}, {"pool |"}, {{"unary |", {.why = "an error of 1"}}}};
  write(text / "verdicts", "v" + to_json(verdicts, DeviceCaps{}));
  write(text / "array", std::string("n\x93NUMPY\x01\x00\x3C\x00", 11) +
                            "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n" +
                            std::string(8, '\1'));
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
