#include "vellum/pack.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <system_error>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "exec/cooperative_check.hpp"
#include "exec/packed_weights.hpp"
#include "exec/pipeline_keys.hpp"
#include "import/import.hpp"
#include "import/record.hpp"
#include "pack/graph.hpp"
#include "pack/write.hpp"
#include "platform/files.hpp"
#include "platform/utf8_path.hpp"
#include "vulkan/glslang_compiler.hpp"
#include "vulkan/shader_compiler.hpp"

namespace vellum {
namespace {

std::string made_for(const DeviceCaps& caps, const SessionOptions& options) {
  return (caps.name.empty() ? "a device of the Android Baseline 2022" : caps.name) + ", " +
         (options.precision == Precision::fp16 ? "fp16" : "fp32") +
         (options.arithmetic == Arithmetic::fp16 ? ", multiplied as halves" : "");
}

void add_shaders(const Program& program, packfile::Contents& contents) {
  gpu::ShaderCompiler compiler({}, {});
  for (const gpu::PipelineKey& key : pipeline_keys(program)) {
    const gpu::ShaderRequest request = gpu::shader_request(key);
    std::vector<uint32_t>& words = contents.shaders[gpu::shader_digest(request)];
    if (words.empty()) words = compiler.spirv(request);
  }
}

void add_weights(const Program& program, const Graph& graph, packfile::Contents& contents) {
  const ConstantIds ids = packfile::constants_by_address(graph);
  for (const TensorId id : weight_ids(program)) {
    const VirtualTensor& weight = program.tensors[id];
    const std::string key = portable_weight_key(weight, ids);
    if (key.empty() || unchanged(weight)) continue;
    std::vector<std::byte>& packed = contents.weights[key];
    if (packed.empty()) packed = pack_weight(weight);
  }
}

// The programs that sessions may run on a device with `caps`: they check its cooperative matrices, and do
// without if the results are wrong or if their library cannot compile for them.
std::vector<Program> possible_programs(const Graph& imported, const DeviceCaps& caps,
                                       const SessionOptions& options) {
  const auto program_for = [&](const DeviceCaps& device) {
    return compile(imported, device, compile_options(options), Stage::program).program;
  };
  std::vector<Program> programs;
  programs.push_back(program_for(caps));
  if (!uses_cooperative_matrices(programs.front())) return programs;
  if (caps.cooperative_matrices.front().extension == MatrixExtension::khr &&
      !gpu::knows_khr_cooperative_matrix())
    programs.clear();
  else
    std::ranges::move(programs_of_cooperative_check(caps), std::back_inserter(programs));
  DeviceCaps without = caps;
  without.cooperative_matrices.clear();
  programs.push_back(program_for(without));
  return programs;
}

// The model with each of the frames, with a transform for all frames and with one for each.
std::vector<Graph> framed_graphs(const Graph& graph, std::span<const PackFrame> frames) {
  const Model model = Handles::model(std::make_shared<Model::Impl>(graph));
  std::vector<Graph> framed;
  for (PackFrame frame : frames) {
    frame.frame.transform.reset();
    framed.push_back(impl(with_frames(model, frame.input, frame.frame))->graph);
    frame.frame.transform = FrameTransform::stretch({1, 1}, {1, 1});
    framed.push_back(impl(with_frames(model, frame.input, frame.frame))->graph);
  }
  return framed;
}

// The file as it is: its reader needs no library.
std::vector<std::byte> read_tflite(const std::filesystem::path& model) {
  std::optional<std::vector<std::byte>> bytes = platform::read_file(model, UINT64_C(1) << 31);
  if (!bytes) throw Error(ErrorCode::io, platform::to_utf8(model) + ": cannot be read");
  return std::move(*bytes);
}

// A folder that is missing is more often misspelt than meant to be made.
void check_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error))
    throw Error(ErrorCode::io, platform::to_utf8(file) + ": cannot be written: there is no folder " +
                                   platform::to_utf8(folder));
}

}  // namespace

PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file, const Caps& caps,
                 const SessionOptions& options) {
  return pack(model, file, caps, options, {});
}

PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file, const Caps& caps,
                 const SessionOptions& options, std::span<const PackFrame> frames) {
  return guard([&] {
    check_folder(file);
    packfile::Contents contents;
    GraphRecord record;
    Graph graph;
    switch (model_format(model)) {
      case ModelFormat::packed:
        throw Error(ErrorCode::invalid_argument,
                    platform::to_utf8(model) + ": is packed already; pack the model it was made from");
      case ModelFormat::tflite:
        contents.tflite = read_tflite(model);
        graph = import_model(std::span<const std::byte>(contents.tflite));
        break;
      case ModelFormat::onnx:
        graph = import_onnx(model, record);
        break;
    }
    if (contents.tflite.empty()) {
      contents.graph = &graph;
      contents.record = &record;
    }
    contents.made_for = made_for(impl(caps)->caps, options);
    for (const Program& program : possible_programs(graph, impl(caps)->caps, options)) {
      add_shaders(program, contents);
      add_weights(program, graph, contents);
    }
    for (const Graph& framed : framed_graphs(graph, frames)) {
      for (const Program& program : possible_programs(framed, impl(caps)->caps, options)) {
        add_shaders(program, contents);
        add_weights(program, graph, contents);  // those of the model: a session knows them by its values
      }
    }
    packfile::write(file, contents);

    PackSummary summary{contents.shaders.size(), contents.weights.size(), 0, 0};
    for (const auto& [key, bytes] : contents.weights) summary.weights_bytes += bytes.size();
    std::error_code error;
    summary.file_bytes = std::filesystem::file_size(file, error);
    return summary;
  });
}

}  // namespace vellum
