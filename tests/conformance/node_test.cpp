#include "node_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

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

namespace {

fs::path data_set(const NodeTest& test, int set) {
  return test.folder / ("test_data_set_" + std::to_string(set));
}

}  // namespace

namespace {

onnx::schema::ModelProto read_model(const NodeTest& test) {
  onnx::schema::ModelProto model;
  if (!model.ParseFromString(read_file(test.folder / "model.onnx")))
    throw Error(ErrorCode::corrupt_model, test.name + " has no readable model");
  return model;
}

constexpr int32_t kBfloat16 = 16;

// input_<i>.pb or output_<i>.pb; nothing if there is none. Older suites store bfloat16 as integers of 16
// bits.
std::optional<onnx::schema::TensorProto> read_data(const onnx::schema::ModelProto& model,
                                                   const fs::path& folder, const std::string& kind, int i) {
  const fs::path file = folder / (kind + '_' + std::to_string(i) + ".pb");
  if (!fs::exists(file)) return std::nullopt;
  onnx::schema::TensorProto proto = read_proto(file);
  const auto& values = kind == "input" ? model.graph().input() : model.graph().output();
  if (i < values.size() && values.Get(i).type().tensor_type().elem_type() == kBfloat16)
    proto.set_data_type(kBfloat16);
  return proto;
}

}  // namespace

double relative_tolerance(const NodeTest& test, int set, size_t output) {
  if (test.name.starts_with("test_bernoulli")) return std::numeric_limits<double>::infinity();
  const auto proto = read_data(read_model(test), data_set(test, set), "output", static_cast<int>(output));
  if (!proto) return 1e-3;
  const int32_t type = proto->data_type();
  return type == onnx::schema::TensorProto::FLOAT16 ? 2e-3 : type == kBfloat16 ? 1.6e-2 : 1e-3;
}

std::string with_constant_inputs(const NodeTest& test) {
  onnx::schema::ModelProto model = read_model(test);
  auto& graph = *model.mutable_graph();
  for (int i = 1; i < graph.input_size(); ++i) {
    const auto data = read_data(model, data_set(test, 0), "input", i);
    if (!data) continue;
    auto& constant = *graph.add_initializer();
    constant = *data;
    constant.set_name(graph.input(i).name());
  }
  return model.SerializeAsString();
}

bool has_data_set(const NodeTest& test, int set) { return fs::is_directory(data_set(test, set)); }

std::vector<HostTensor> read_tensors(const NodeTest& test, int set, const std::string& kind) {
  const onnx::schema::ModelProto model = read_model(test);
  onnx::ExternalFiles none{{}};
  std::vector<HostTensor> tensors;
  for (int i = 0;; ++i) {
    auto proto = read_data(model, data_set(test, set), kind, i);
    if (!proto) return tensors;
    tensors.push_back(onnx::take_tensor(*proto, kind + ' ' + std::to_string(i) + " of " + test.name, none));
  }
}

std::string difference(const HostTensor& actual, const HostTensor& expected, double absolute_tolerance,
                       double relative_tolerance) {
  const auto text = [](const HostTensor& t) {
    return std::string(name(t.dtype())) + ' ' + to_string(t.shape());
  };
  if (actual.type() != expected.type()) return text(actual) + " instead of " + text(expected);
  if (std::isinf(relative_tolerance)) return {};
  const HostTensor a = cast(actual, DType::f64), b = cast(expected, DType::f64);
  const auto got = a.as<double>(), want = b.as<double>();
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    if (std::fabs(got[i] - want[i]) <= absolute_tolerance + relative_tolerance * std::fabs(want[i])) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + " instead of " +
           std::to_string(want[i]);
  }
  return {};
}

}  // namespace vellum::conformance
