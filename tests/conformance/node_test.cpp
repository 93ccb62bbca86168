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

HostTensor read_tensor(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  onnx::schema::TensorProto proto;
  if (!stream || !proto.ParseFromString(bytes)) {
    // Sequences and optionals are stored in the same place.
    throw Error(ErrorCode::unsupported, file.string() + " is not a tensor");
  }
  return onnx::take_tensor(proto, file.string(), {});
}

namespace {

fs::path data_set(const NodeTest& test, int set) {
  return test.folder / ("test_data_set_" + std::to_string(set));
}

}  // namespace

bool has_data_set(const NodeTest& test, int set) { return fs::is_directory(data_set(test, set)); }

std::vector<HostTensor> read_tensors(const NodeTest& test, int set, const std::string& kind) {
  std::vector<HostTensor> tensors;
  for (int i = 0;; ++i) {
    const fs::path file = data_set(test, set) / (kind + '_' + std::to_string(i) + ".pb");
    if (!fs::exists(file)) return tensors;
    tensors.push_back(read_tensor(file));
  }
}

std::string difference(const HostTensor& actual, const HostTensor& expected) {
  const auto text = [](const HostTensor& t) {
    return std::string(name(t.dtype())) + ' ' + to_string(t.shape());
  };
  if (actual.type() != expected.type()) return text(actual) + " instead of " + text(expected);
  const HostTensor a = cast(actual, DType::f64), b = cast(expected, DType::f64);
  const auto got = a.as<double>(), want = b.as<double>();
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    if (std::fabs(got[i] - want[i]) <= 1e-7 + 1e-3 * std::fabs(want[i])) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + " instead of " +
           std::to_string(want[i]);
  }
  return {};
}

}  // namespace vellum::conformance
