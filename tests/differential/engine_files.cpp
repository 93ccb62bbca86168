// Random graphs as files, for comparing another engine with the reference in double that Vellum is compared
// with (onnxruntime.sh):
//
//   engine_files write FOLDER FIRST COUNT      graphs of the seeds FIRST to FIRST + COUNT - 1
//   engine_files compare FOLDER FIRST COUNT    what the engine computed of them
//
// FOLDER/SEED/ holds model.onnx, inputs/NAME.npy and, from the engine, outputs/NAME.npy. Where there are no
// outputs, the engine refused the graph; `compare` fails if that is more than one in twenty, or if any graph
// differs.
#include <charconv>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "differential/expected_outputs.hpp"
#include "io/npy.hpp"

namespace vellum::test {
namespace {

namespace fs = std::filesystem;

uint32_t number(std::string_view text) {
  uint32_t value = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, value).ptr != end || text.empty())
    throw std::invalid_argument(std::string(text) + " is no number");
  return value;
}

void write_case(const fs::path& folder, uint32_t seed) {
  const RandomCase one(seed);
  fs::create_directories(folder / "inputs");
  one.random.model.save(folder / "model.onnx");
  for (const auto& [name, tensor] : one.inputs) {
    io::NpyArray array{"float32", tensor.shape(), {}};
    array.data.resize(tensor.byte_size());
    std::memcpy(array.data.data(), tensor.data(), tensor.byte_size());
    io::write_npy(folder / "inputs" / (name + ".npy"), array);
  }
}

HostTensor read_output(const fs::path& file) {
  const io::NpyArray array = io::read_npy(file);
  if (array.dtype != "float32" && array.dtype != "int64")
    throw std::runtime_error(file.string() + " is of the type " + array.dtype);
  HostTensor tensor(array.dtype == "int64" ? DType::i64 : DType::f32, array.shape);
  std::memcpy(tensor.mutable_data(), array.data.data(), tensor.byte_size());
  return tensor;
}

std::string compare_case(const fs::path& folder, uint32_t seed) {
  const RandomCase one(seed);
  NamedTensors outputs;
  for (const ValueId id : one.graph.outputs) {
    const std::string& name = one.graph.values[id].name;
    outputs[name] = read_output(folder / "outputs" / (name + ".npy"));
  }
  return one.expected.difference(outputs, Rounding::fp32);
}

void write(const fs::path& folder, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) write_case(folder / std::to_string(first + i), first + i);
}

bool compare(const fs::path& folder, uint32_t first, uint32_t count) {
  uint32_t differ = 0, refused = 0;
  for (uint32_t seed = first; seed - first < count; ++seed) {
    const fs::path one = folder / std::to_string(seed);
    if (!fs::exists(one / "outputs")) {
      ++refused;
    } else if (const std::string difference = compare_case(one, seed); !difference.empty()) {
      std::cout << "seed " << seed << ": " << difference << "\n";
      ++differ;
    }
  }
  std::cout << count << " graphs, " << differ << " differ, " << refused << " refused\n";
  return differ == 0 && refused <= count / 20;
}

}  // namespace
}  // namespace vellum::test

int main(int argc, char** argv) {
  const std::string_view command = argc == 5 ? argv[1] : "";
  if (command != "write" && command != "compare") {
    std::cerr << "usage: engine_files write|compare FOLDER FIRST COUNT\n";
    return 2;
  }
  try {
    const uint32_t first = vellum::test::number(argv[3]), count = vellum::test::number(argv[4]);
    if (command == "compare") return vellum::test::compare(argv[2], first, count) ? 0 : 1;
    vellum::test::write(argv[2], first, count);
  } catch (const std::exception& error) {
    std::cerr << "engine_files: " << error.what() << "\n";
    return 2;
  }
}
