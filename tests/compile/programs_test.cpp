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

#include "caps/vendors.hpp"
#include "caps_file/caps_json.hpp"
#include "compile/compile.hpp"
#include "compile/network.hpp"
#include "compile/networks.hpp"
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

struct Gpu {
  const char* name;
  const char* device_name;  // by which rates are known
  uint32_t vendor_id;
  DeviceType type;
  uint32_t subgroup_size, shared_kib;
  bool prefers_images, reads_images_as_storage;
};

// Those of tests/gpu_compilers/scoreboard.py, with the limits that Mesa's drivers have in common.
constexpr Gpu kGpus[] = {
    {"navi31", "AMD Radeon RX 7900 XTX (RADV NAVI31)", kAmd, DeviceType::discrete_gpu, 64, 64, false, true},
    {"navi21", "AMD Radeon RX 6800 XT (RADV NAVI21)", kAmd, DeviceType::discrete_gpu, 64, 64, false, true},
    {"renoir", "AMD Radeon Graphics (RADV RENOIR)", kAmd, DeviceType::integrated_gpu, 64, 64, false, true},
    {"a618", "Turnip Adreno (TM) 618", kQualcomm, DeviceType::integrated_gpu, 64, 32, true, false},
    {"a660", "Turnip Adreno (TM) 660", kQualcomm, DeviceType::integrated_gpu, 64, 32, true, false},
    {"a740", "Turnip Adreno (TM) 740", kQualcomm, DeviceType::integrated_gpu, 64, 32, true, false},
    {"intel-tgl", "Intel(R) Xe Graphics (TGL GT2)", kIntel, DeviceType::integrated_gpu, 32, 64, false, true},
    {"intel-mtl", "Intel(R) Graphics (MTL)", kIntel, DeviceType::integrated_gpu, 32, 64, false, true},
    {"mali-g610", "Mali-G610 MC4", kArm, DeviceType::integrated_gpu, 16, 32, false, false},
    {"tu104", "NVIDIA GeForce RTX 2080 (NVK TU104)", kNvidia, DeviceType::discrete_gpu, 32, 48, true, true},
    {"ga102", "NVIDIA GeForce RTX 3090 (NVK GA102)", kNvidia, DeviceType::discrete_gpu, 32, 48, true, true},
};

DeviceCaps caps_of(const Gpu& gpu) {
  DeviceCaps caps;
  caps.name = gpu.device_name;
  caps.vendor_id = gpu.vendor_id;
  caps.type = gpu.type;
  caps.max_image_dimension_2d = 16384;
  caps.max_image_dimension_3d = caps.max_image_array_layers = 2048;
  caps.max_storage_images_per_stage = caps.max_storage_buffers_per_stage = 64;
  caps.max_sampled_images_per_stage = 64;
  caps.max_push_constant_bytes = 256;
  caps.max_storage_buffer_range = (uint64_t{1} << 32) - 1;
  caps.max_workgroup_invocations = 1024;
  caps.max_workgroup_size = {1024, 1024, 64};
  caps.max_shared_memory_bytes = gpu.shared_kib << 10;
  caps.max_texel_buffer_elements = 1 << 27;
  caps.max_loop_iterations = kNoLoopLimit;
  caps.min_storage_buffer_offset_alignment = caps.min_texel_buffer_offset_alignment = 64;
  caps.fp16_arithmetic = caps.fp16_buffer_storage = true;
  caps.subgroup_arithmetic = caps.subgroup_broadcast = caps.full_subgroups = true;
  caps.subgroup_size = gpu.subgroup_size;
  caps.unified_memory = gpu.type == DeviceType::integrated_gpu;
  caps.prefers_images = gpu.prefers_images;
  caps.reads_images_as_storage = gpu.reads_images_as_storage;
  return caps;
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

fs::path sources() {
  const char* folder = std::getenv("VELLUM_TEST_SOURCE");
  return folder ? folder : "tests";
}

std::vector<std::pair<std::string, DeviceCaps>> devices() {
  std::vector<std::pair<std::string, DeviceCaps>> list;
  for (const auto& [name, file] : {std::pair{"lavapipe", "lavapipe"},
                                   {"android", "android_baseline_2022"},
                                   {"moltenvk", "moltenvk_apple_m1"}}) {
    const fs::path path = sources().parent_path() / "caps" / (std::string(file) + ".json");
    list.emplace_back(name, caps_from_json(text_of(path), path.string()));
  }
  for (const Gpu& gpu : kGpus) list.emplace_back(gpu.name, caps_of(gpu));
  DeviceCaps matrices = caps_of(kGpus[std::size(kGpus) - 1]);
  matrices.cooperative_matrices = {{.m = 16, .n = 16, .k = 16}};
  list.emplace_back("ga102-matrices", matrices);
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
  for (const auto& [device, caps] : devices())
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
