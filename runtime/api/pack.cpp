#include "vellum/pack.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "api/cache_capacity.hpp"
#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/model_format.hpp"
#include "api/pack_graph.hpp"
#include "api/tensor_names.hpp"
#include "caps_file/caps_json.hpp"
#include "exec/binding_pipelines.hpp"
#include "exec/cooperative_check.hpp"
#include "exec/packed_weights.hpp"
#include "exec/pipeline_keys.hpp"
#include "import/import.hpp"
#include "import/record.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "pack/graph.hpp"
#include "pack/write.hpp"
#include "passes/shapes/shape_inputs.hpp"
#include "platform/files.hpp"
#include "platform/utf8_path.hpp"
#include "selfcheck/halves_check.hpp"
#include "selfcheck/reuse_check.hpp"
#include "selfcheck/small_programs.hpp"
#include "vulkan/glslang_compiler.hpp"
#include "vulkan/shader_compiler.hpp"

namespace vellum {
namespace {

std::string made_for(const DeviceCaps& caps, const SessionOptions& options) {
  return (caps.name.empty() ? "a device of the Android Baseline 2022" : caps.name) + ", " +
         (options.precision == Precision::fp16 ? "fp16" : "fp32") +
         (options.arithmetic == Arithmetic::fp16 ? ", multiplied as halves" : "");
}

void add_shaders(const std::vector<gpu::PipelineKey>& keys, packfile::Contents& contents) {
  gpu::ShaderCompiler compiler({}, {});
  for (const gpu::PipelineKey& key : keys) {
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

bool accesses_rows(const Program& program) {
  return std::ranges::any_of(program.tasks, [](const Task& task) {
    return task.dispatch && kernel_id(*task.dispatch).accesses_rows;
  });
}

// Returns the caps of a device with matrices whose matrices of bytes are wrong, and whose are all wrong.
std::vector<DeviceCaps> with_fewer_matrices(const DeviceCaps& caps) {
  std::vector<DeviceCaps> fewer;
  DeviceCaps remaining = caps;
  remove_products(remaining, MatrixFactors::bytes);
  if (!byte_products(caps).empty() && !half_products(remaining).empty()) fewer.push_back(remaining);
  remaining.cooperative_matrices.clear();
  fewer.push_back(std::move(remaining));
  return fewer;
}

// Returns the programs that sessions may run on a device with `caps`. Sessions check cooperative matrices and
// kernels that access rows of texels, and run programs without them if the results are wrong, or if the
// library cannot compile shaders for such matrices.
std::vector<Program> possible_programs(const Graph& imported, const DeviceCaps& caps,
                                       const SessionOptions& options) {
  std::vector<Program> programs;
  const auto add_programs_for = [&](const DeviceCaps& device) {
    CompileOptions compiled = compile_options(options);
    programs.push_back(compile(imported, device, compiled, Stage::program).program);
    compiled.row_texels = false;  // for devices whose kernels of rows are wrong
    if (accesses_rows(programs.back()))
      programs.push_back(compile(imported, device, compiled, Stage::program).program);
  };
  add_programs_for(caps);
  if (!uses_cooperative_matrices(programs.front())) return programs;
  if (caps.cooperative_matrices.front().extension == MatrixExtension::khr &&
      !gpu::knows_khr_cooperative_matrix())
    programs.clear();
  else
    std::ranges::move(programs_of_cooperative_check(caps), std::back_inserter(programs));
  for (const DeviceCaps& fewer : with_fewer_matrices(caps)) add_programs_for(fewer);
  return programs;
}

// A form of the model whose input `frame` takes frames; empty: no input does.
struct FramedModel {
  Model model;
  std::string frame;
};

// Returns the model itself, and for each of `frames` the model with a fixed transform and with a transform as
// input.
std::vector<FramedModel> framed_models(const Model& model, std::span<const PackFrame> frames) {
  std::vector<FramedModel> framed{{model, {}}};
  for (PackFrame frame : frames) {
    frame.input = model.inputs()[position(model.inputs(), frame.input, "input")].name;
    frame.frame.transform.reset();
    framed.push_back({with_frames(model, frame.input, frame.frame), frame.input});
    frame.frame.transform = FrameTransform::stretch({1, 1}, {1, 1});
    framed.push_back({with_frames(model, frame.input, frame.frame), frame.input});
  }
  return framed;
}

// Returns the model with a picture of the size of its output or frame, and of another size. Narrow pictures,
// and pictures of the size of the frame below, have shader variants of their own.
std::array<Model, 2> pictured_models(const Model& model, PackPicture picture) {
  picture.picture.width = picture.picture.height = 0;
  const Model natural = with_picture(model, picture.output, picture.picture);
  picture.picture.width = 64;
  picture.picture.height = 1;
  return {natural, with_picture(model, picture.output, picture.picture)};
}

// Returns all forms of the model. The model itself is first.
std::vector<Graph> variant_graphs(const Model& whole, const PackVariants& variants) {
  const std::vector<FramedModel> framed = framed_models(whole, variants.frames);
  std::vector<PackPicture> pictures(variants.pictures.begin(), variants.pictures.end());
  for (PackPicture& picture : pictures)
    for (const TensorInfo& input : framed.front().model.inputs())
      if (input.has_name(picture.picture.over)) picture.picture.over = input.name;
  for (const PackPicture& picture : pictures)
    if (const std::string& over = picture.picture.over;
        !over.empty() && std::ranges::find(framed, over, &FramedModel::frame) == framed.end())
      throw Error(ErrorCode::invalid_argument, "a picture of '" + picture.output + "' over '" + over +
                                                   "' needs a frame of this input in the bundle");
  std::vector<Graph> graphs;
  for (const auto& [model, frame] : framed) {
    graphs.push_back(impl(model)->graph);
    for (const PackPicture& picture : pictures)
      if (picture.picture.over.empty() || picture.picture.over == frame)
        for (const Model& pictured : pictured_models(model, picture)) graphs.push_back(impl(pictured)->graph);
  }
  return graphs;
}

// Returns the bytes of a TFLite file unchanged, because reading them needs no library.
std::vector<std::byte> tflite_bytes(const std::filesystem::path& model) {
  std::optional<std::vector<std::byte>> bytes = platform::read_file(model, UINT64_C(1) << 31);
  if (!bytes) throw Error(ErrorCode::io, platform::to_utf8(model) + ": cannot be read");
  return std::move(*bytes);
}

std::vector<std::byte> tflite_bytes(std::span<const std::byte> model) { return {model.begin(), model.end()}; }

std::string source_name(const std::filesystem::path& model) { return platform::to_utf8(model); }
std::string source_name(std::span<const std::byte>) { return "model in memory"; }

// A model that was read to make a bundle of it. `source`: a path, or bytes.
struct Imported {
  template <typename Source>
  explicit Imported(const Source& source, const std::string& signature) {
    switch (model_format(source)) {
      case ModelFormat::packed:
        throw Error(ErrorCode::invalid_argument,
                    source_name(source) + ": is packed already; pack the model it was made from");
      case ModelFormat::tflite:
        contents.tflite = tflite_bytes(source);
        contents.signature = signature;
        graph = import_model(std::span<const std::byte>(contents.tflite), {}, signature);
        break;
      case ModelFormat::onnx:
        refuse_signature(signature, source_name(source));
        graph = import_onnx(source, record);
        contents.graph = &graph;
        contents.record = &record;
        break;
    }
  }
  Imported(Graph&& imported, GraphRecord&& operators)
      : graph(std::move(imported)), record(std::move(operators)) {
    contents.graph = &graph;
    contents.record = &record;
  }
  Imported(const Imported&) = delete;
  Imported& operator=(const Imported&) = delete;

  Graph graph;
  GraphRecord record;
  packfile::Contents contents;  // refers to the other members
};

// Passes the bytes of a bundle to the sink.
packfile::TakePieces to_sink(const PackSink& sink) {
  return [&sink](std::span<const std::span<const std::byte>> pieces) {
    for (const std::span<const std::byte> piece : pieces)
      call_application("the function that takes the bundle", [&] { sink(piece); });
  };
}

// Refuses a missing folder instead of making it, because it is more likely a typing error.
void check_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error))
    throw Error(ErrorCode::io, platform::to_utf8(file) + ": cannot be written: there is no folder " +
                                   platform::to_utf8(folder));
}

// Kernels of programs, by KernelId::text().
using KernelsByText = std::map<std::string, KernelId>;

void add_kernels(const Program& program, KernelsByText& kernels) {
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    KernelId kernel = kernel_id(*task.dispatch);
    std::string text = kernel.text();
    kernels.emplace(std::move(text), std::move(kernel));
  }
}

// Adds the shaders of first-use checks of these kernels, for sessions that cannot compile shaders.
void add_check_shaders(const KernelsByText& kernels, const DeviceCaps& caps, const SessionOptions& options,
                       packfile::Contents& contents) {
  UsedKernels used{.precision = options.precision, .arithmetic = options.arithmetic};
  for (const auto& [text, kernel] : kernels) used.kernels.push_back(kernel);
  for (const Program& program : check_programs(caps, used)) add_shaders(pipeline_keys(program), contents);
  const bool images = std::ranges::any_of(
      used.kernels, [](const KernelId& kernel) { return kernel.forms.find("=IMAGE") != std::string::npos; });
  for (const Program& program : reuse_check_programs(caps, images))
    add_shaders(pipeline_keys(program), contents);
  if (options.precision == Precision::fp16) add_shaders(pipeline_keys(halves_check_program(caps)), contents);
}

// Returns the caps that sessions may compile for: where a device turns out to round halves wrongly, its
// kernels round them by themselves.
std::vector<DeviceCaps> possible_caps(const DeviceCaps& caps, Precision precision) {
  std::vector<DeviceCaps> possible{caps};
  if (precision == Precision::fp16 && caps.packs_halves) {
    possible.push_back(caps);
    possible.back().packs_halves = false;
  }
  return possible;
}

// Adds shaders, and prepacked weights, of all forms of the model, and returns their kernels.
KernelsByText add_programs(const std::vector<Graph>& forms, const DeviceCaps& caps,
                           const SessionOptions& options, const PackVariants& variants,
                           packfile::Contents& contents, const Graph& imported) {
  KernelsByText kernels;
  for (const Graph& form : forms)
    for (const Program& program : possible_programs(form, caps, options)) {
      add_shaders(pipeline_keys(program), contents);
      add_shaders(step_pipeline_keys(caps, program), contents);
      if (variants.images) add_shaders(binding_pipeline_keys(caps, form, program), contents);
      add_kernels(program, kernels);
      add_weights(program, imported, contents);  // those of the model: a session knows them by its values
    }
  return kernels;
}

PackSummary write_bundle(Imported& model, const packfile::TakePieces& take, const Caps& caps,
                         const SessionOptions& options, const PackVariants& variants) {
  packfile::Contents& contents = model.contents;
  const DeviceCaps& device = impl(caps)->caps;
  contents.made_for = made_for(device, options);
  DeviceCaps stored = device;
  stored.process.reset();  // bundles do not depend on the machine that they are made on
  contents.caps = to_json(stored);
  const Model whole =
      with_cache_capacity(Handles::model(std::make_shared<Model::Impl>(model.graph)), options);
  const SessionOptions named = by_tensor_name(whole, options);
  check_input_values(impl(whole)->graph, impl(whole)->shape_inputs, named.input_values);
  const std::vector<Graph> forms = variant_graphs(whole, variants);
  const std::vector<DeviceCaps> possible = possible_caps(device, named.precision);
  std::vector<KernelsByText> kernels;
  for (const DeviceCaps& each : possible)
    kernels.push_back(add_programs(forms, each, named, variants, contents, model.graph));
  PackSummary summary{contents.shaders.size(), contents.weights.size(), 0, 0};
  for (size_t i = 0; i < possible.size(); ++i) {
    add_check_shaders(kernels[i], possible[i], named, contents);
    if (possible[i].cooperative_matrices.empty()) continue;
    for (const DeviceCaps& fewer : with_fewer_matrices(possible[i]))
      add_check_shaders(kernels[i], fewer, named, contents);
  }
  for (const auto& [key, bytes] : contents.weights) summary.weights_bytes += bytes.size();
  summary.file_bytes = packfile::write(contents, take);
  return summary;
}

}  // namespace

PackSummary pack_graph(Graph graph, GraphRecord record, const PackSink& sink, const Caps& caps,
                       const SessionOptions& options) {
  Imported imported(std::move(graph), std::move(record));
  return write_bundle(imported, to_sink(sink), caps, options, {});
}

PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file, const Caps& caps,
                 const SessionOptions& options) {
  return pack_with_variants(model, file, caps, options, PackVariants{});
}

PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file, const Caps& caps,
                 const SessionOptions& options, std::span<const PackFrame> frames) {
  return pack_with_variants(model, file, caps, options, PackVariants{.frames = frames});
}

PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file, const Caps& caps,
                 const SessionOptions& options, std::span<const PackFrame> frames,
                 std::span<const PackPicture> pictures) {
  return pack_with_variants(model, file, caps, options, PackVariants{.frames = frames, .pictures = pictures});
}

PackSummary pack_with_variants(const std::filesystem::path& model, const std::filesystem::path& file,
                               const Caps& caps, const SessionOptions& options,
                               const PackVariants& variants) {
  return guard([&] {
    check_folder(file);
    Imported imported(model, variants.signature);
    const auto write = [&](std::span<const std::span<const std::byte>> pieces) {
      platform::write_file_atomically(file, pieces);
    };
    return write_bundle(imported, write, caps, options, variants);
  });
}

PackSummary pack(std::span<const std::byte> model, const PackSink& sink, const Caps& caps,
                 const SessionOptions& options, std::span<const PackFrame> frames) {
  return pack_with_variants(model, sink, caps, options, PackVariants{.frames = frames});
}

PackSummary pack(std::span<const std::byte> model, const PackSink& sink, const Caps& caps,
                 const SessionOptions& options, std::span<const PackFrame> frames,
                 std::span<const PackPicture> pictures) {
  return pack_with_variants(model, sink, caps, options, PackVariants{.frames = frames, .pictures = pictures});
}

PackSummary pack_with_variants(std::span<const std::byte> model, const PackSink& sink, const Caps& caps,
                               const SessionOptions& options, const PackVariants& variants) {
  return guard([&] {
    if (!sink) throw Error(ErrorCode::invalid_argument, "there is no function that takes the bundle");
    if (!model.data() && !model.empty())
      throw Error(ErrorCode::invalid_argument, "the pointer to the bytes of the model is null");
    Imported imported(model, variants.signature);
    return write_bundle(imported, to_sink(sink), caps, options, variants);
  });
}

}  // namespace vellum
