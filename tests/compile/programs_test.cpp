// Programs stay what programs.txt says they are: the digest of the text of each network's program, its
// barriers and parameters, for a CPU, two profiles, and GPUs of each vendor. Where they are meant to change,
//     VELLUM_TEST_RENEW=1 VELLUM_TEST_SOURCE=tests VELLUM_TEST_DATA=$(./setup.sh where)
//     build/tests/tests/compile/programs_test
// writes the file anew; its difference says which devices get other programs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compile.hpp"
#include "compile/network.hpp"
#include "compile/networks.hpp"
#include "compile/scoreboard_devices.hpp"
#include "import/import.hpp"
#include "support/fetched_model.hpp"

namespace vellum::test {
namespace {

namespace fs = std::filesystem;

struct Network {
  std::string name;
  std::function<Graph()> graph;  // null: a model that the tests fetch
  InputShapes shapes = {};
};

void PrintTo(const Network& network, std::ostream* out) { *out << network.name; }

std::vector<Network> networks() {
  std::vector<Network> list{{"two_convolutions", [] { return network().graph(); }},
                            {"mobilenet_v1", mobilenet_v1},
                            {"mobilenet_v2", [] { return mobilenet_v2(); }},
                            {"mobilenet_v2_large", [] { return mobilenet_v2(512); }},
                            {"efficientnet", efficientnet},
                            {"squeezenet", squeezenet},
                            {"quantised", quantised},
                            {"alternating", [] { return alternating(1, 56, 16); }},
                            {"alternating_small", [] { return alternating(1, 14, 48); }},
                            {"alternating_batch", [] { return alternating(2, 30, 18); }}};
  for (const char* name : {"blazeface_front", "mlsd_tiny", "face_mesh_attention", "selfie_segmentation",
                           "hand_lite", "objects_ssd"})
    list.push_back({name, nullptr});
  list.push_back({"ocr_direction", nullptr, {{"x", {1, 3, 48, 192}}}});
  list.push_back({"ocr_recognition", nullptr, {{"x", {1, 3, 48, 320}}}});
  return list;
}

// FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv), of 64 bits.
class Digest {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  void add(uint64_t number) { add(std::to_string(number) + ";"); }
  std::string text() const {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string digits(16, '0');
    for (size_t i = 0; i < 16; ++i) digits[i] = kDigits[value_ >> (60 - 4 * i) & 15];
    return digits;
  }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

// What the texts leave out: forms of tensors, parameters, work, and how weights are prepacked.
void add_details(Digest& digest, const Program& program) {
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    const Dispatch& dispatch = *task.dispatch;
    for (const auto& [macro, value] : dispatch.defines) digest.add(macro + "=" + value + ";");
    const std::span<const std::byte> bytes = dispatch.push_constants.bytes();
    digest.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    digest.add(dispatch.candidate);
    digest.add(dispatch.macs);
    digest.add(dispatch.iterations);
    digest.add(dispatch.subgroup_size);
  }
  for (const VirtualTensor& tensor : program.tensors)
    digest.add(tensor.name + ";" + tensor.origin.packing.key() + ";");
}

// "13 dispatches, 0123456789abcdef".
std::string summary(const Graph& prepared, const DeviceCaps& caps, Precision precision) {
  const CompiledModel compiled = compile_prepared(prepared, caps, {.precision = precision});
  Digest digest;
  digest.add(to_text(compiled, Stage::program));
  digest.add(to_text(compiled, Stage::barriers));
  add_details(digest, compiled.program);
  const auto dispatches = std::ranges::count_if(compiled.program.tasks,
                                                [](const Task& task) { return task.dispatch.has_value(); });
  return std::to_string(dispatches) + " dispatches, " + digest.text();
}

// Lines "network device precision: summary", by what is before the colon.
using Lines = std::map<std::string, std::string>;

fs::path recorded_file() { return sources() / "compile" / "programs.txt"; }

Lines recorded_lines() {
  Lines lines;
  std::istringstream text(text_of(recorded_file()));
  for (std::string line; std::getline(text, line);)
    if (const size_t colon = line.find(": "); colon != line.npos)
      lines[line.substr(0, colon)] = line.substr(colon + 2);
  return lines;
}

void record(const std::string& network, const Lines& lines) {
  Lines all = recorded_lines();
  std::erase_if(all, [&](const auto& line) { return line.first.starts_with(network + " "); });
  all.insert(lines.begin(), lines.end());
  std::ofstream file(recorded_file(), std::ios::binary);
  for (const auto& [program, summary] : all) file << program << ": " << summary << "\n";
}

class Programs : public testing::TestWithParam<Network> {};

TEST_P(Programs, AreTheRecordedOnes) {
  const Network& network = GetParam();
  const fs::path file = network.graph ? fs::path() : fetched_model(network.name).model();
  if (!network.graph && !fs::exists(file)) GTEST_SKIP() << file << " is not there";
  const Graph imported = network.graph ? network.graph() : import_model(file);
  const Graph prepared = prepare_graph(imported, DeviceCaps{}, {.input_shapes = network.shapes});
  Lines lines;
  for (const auto& [device, caps] : scoreboard_devices())
    for (const Precision precision : {Precision::fp32, Precision::fp16})
      lines[network.name + " " + device + (precision == Precision::fp32 ? " fp32" : " fp16")] =
          summary(prepared, caps, precision);
  if (std::getenv("VELLUM_TEST_RENEW")) return record(network.name, lines);
  const Lines recorded = recorded_lines();
  for (const auto& [program, summary] : lines) {
    const auto found = recorded.find(program);
    ASSERT_NE(found, recorded.end()) << program << " is not in programs.txt";
    EXPECT_EQ(summary, found->second) << program << ": the head of programs_test.cpp says what to do";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Programs, testing::ValuesIn(networks()),
                         [](const auto& network) { return network.param.name; });

}  // namespace
}  // namespace vellum::test
