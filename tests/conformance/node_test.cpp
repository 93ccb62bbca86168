#include "node_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "import/onnx/tensors.hpp"
#include "vellum/error.hpp"

namespace vellum::conformance {

namespace fs = std::filesystem;

fs::path test_data_root() {
  const char* chosen = std::getenv("VELLUM_ONNX_TEST_DATA");
  return chosen != nullptr && *chosen != '\0' ? fs::path(chosen)
                                              : fs::path("/usr/share/libonnx-testdata/data");
}

std::vector<NodeTest> find_tests(const fs::path& suite) {
  std::vector<NodeTest> tests;
  if (!fs::is_directory(suite)) return tests;
  for (const auto& entry : fs::directory_iterator(suite)) {
    if (fs::exists(entry.path() / "model.onnx"))
      tests.push_back({entry.path().filename().string(), entry.path()});
  }
  std::sort(tests.begin(), tests.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return tests;
}

namespace {

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

onnx::schema::TensorProto read_proto(const fs::path& file) {
  onnx::schema::TensorProto proto;
  // Sequences and optionals are stored in the same place.
  if (!proto.ParseFromString(read_file(file)))
    throw Error(ErrorCode::unsupported, file.string() + " is not a tensor");
  return proto;
}

}  // namespace

HostTensor read_tensor(const fs::path& file) {
  auto proto = read_proto(file);
  return onnx::take_tensor(proto, file.string(), {});
}

namespace {

fs::path data_set(const NodeTest& test, int set) {
  return test.folder / ("test_data_set_" + std::to_string(set));
}

}  // namespace

std::string with_constant_inputs(const NodeTest& test) {
  onnx::schema::ModelProto model;
  if (!model.ParseFromString(read_file(test.folder / "model.onnx"))) {
    throw Error(ErrorCode::corrupt_model, test.name + " has no readable model");
  }
  auto& graph = *model.mutable_graph();
  for (int i = 1; i < graph.input_size(); ++i) {
    const fs::path file = data_set(test, 0) / ("input_" + std::to_string(i) + ".pb");
    if (!fs::exists(file)) continue;
    auto& constant = *graph.add_initializer();
    constant = read_proto(file);
    constant.set_name(graph.input(i).name());
  }
  return model.SerializeAsString();
}

bool has_data_set(const NodeTest& test, int set) { return fs::is_directory(data_set(test, set)); }

std::vector<HostTensor> read_tensors(const NodeTest& test, int set, const std::string& kind) {
  std::vector<HostTensor> tensors;
  for (int i = 0;; ++i) {
    const fs::path file = data_set(test, set) / (kind + '_' + std::to_string(i) + ".pb");
    if (!fs::exists(file)) return tensors;
    tensors.push_back(read_tensor(file));
  }
}

std::string difference(const HostTensor& actual, const HostTensor& expected, double absolute_tolerance) {
  const auto text = [](const HostTensor& t) {
    return std::string(name(t.dtype())) + ' ' + to_string(t.shape());
  };
  if (actual.type() != expected.type()) return text(actual) + " instead of " + text(expected);
  const HostTensor a = cast(actual, DType::f64), b = cast(expected, DType::f64);
  const auto got = a.as<double>(), want = b.as<double>();
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    if (std::fabs(got[i] - want[i]) <= absolute_tolerance + 1e-3 * std::fabs(want[i])) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + " instead of " +
           std::to_string(want[i]);
  }
  return {};
}

}  // namespace vellum::conformance
