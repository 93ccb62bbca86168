#include "exec/binding_pipelines.hpp"

#include <algorithm>

#include "exec/pipeline_keys.hpp"
#include "graph/operators/movement/frame.hpp"
#include "kernels/movement/step_end.hpp"
#include "kernels/movement/store_image.hpp"
#include "kernels/movement/strided_words.hpp"
#include "vulkan/application_image.hpp"

namespace vellum {
namespace {

void add_frame_keys(const Graph& graph, const Program& program, std::vector<gpu::PipelineKey>& keys) {
  for (const Port& port : program.inputs) {
    const FrameInput* const frame = port.tensor == kNoTensor ? nullptr : frame_input(graph, port);
    if (!frame) continue;
    const bool has_chroma = planes_of(*frame).has_chroma;
    const TensorId root = program.root(port.tensor);
    for (const Task& task : program.tasks) {
      if (!task.dispatch || !binds(program, *task.dispatch, root)) continue;
      FrameInput u_first = *frame;  // as formats of a driver's own are read
      u_first.format = FrameFormat::nv12;
      if (has_chroma)
        keys.push_back(frame_image_key(program, *task.dispatch, root, u_first, FrameImage::planes));
      for (const FrameImage image : {FrameImage::bytes, FrameImage::numbers, FrameImage::planes})
        if ((image == FrameImage::planes) == has_chroma)
          keys.push_back(frame_image_key(program, *task.dispatch, root, *frame, image));
    }
  }
}

void add_output_keys(const DeviceCaps& caps, const Program& program, std::vector<gpu::PipelineKey>& keys) {
  for (const Port& port : program.outputs) {
    const bool has_pixels = port.type.dtype == DType::f32 || port.type.dtype == DType::u8;
    if (port.tensor == kNoTensor || port.is_state || !has_pixels) continue;
    const ElementType element = program.tensors[program.root(port.tensor)].desc.element;
    for (const ImagePixels& pixels : readings_as_image(port.type.shape))
      for (const char* const qualifier : gpu::storage_qualifiers())
        keys.push_back(store_image_key(program, store_image(caps, pixels, element, qualifier)));
  }
}

}  // namespace

const FrameInput* frame_input(const Graph& graph, const Port& port) {
  for (const Node& node : graph.nodes)
    if (const auto* frame = dynamic_cast<const Frame*>(node.op.get()))
      if (graph.values[node.inputs[0]].name == port.name) return &frame->frame;
  return nullptr;
}

bool binds(const Program& program, const Dispatch& dispatch, TensorId root) {
  return std::ranges::any_of(dispatch.bindings,
                             [&](const Binding& b) { return program.root(b.tensor) == root; });
}

gpu::PipelineKey frame_image_key(const Program& program, const Dispatch& dispatch, TensorId root,
                                 const FrameInput& frame, FrameImage image) {
  gpu::PipelineKey key = pipeline_key(program, frame_of_image(dispatch, frame, image));
  for (size_t i = 0; i < dispatch.bindings.size(); ++i)
    if (program.root(dispatch.bindings[i].tensor) == root)
      key.bindings[i] =
          image == FrameImage::planes ? gpu::BindingType::planes_image : gpu::BindingType::sampled_image;
  return key;
}

gpu::PipelineKey store_image_key(const Program& program, const Dispatch& dispatch) {
  gpu::PipelineKey key = pipeline_key(program, dispatch);
  key.bindings = {gpu::BindingType::storage_buffer, gpu::BindingType::storage_image};
  return key;
}

gpu::PipelineKey two_buffers_key(const Program& program, const Dispatch& dispatch) {
  gpu::PipelineKey key = pipeline_key(program, dispatch);
  key.bindings = {gpu::BindingType::storage_buffer, gpu::BindingType::storage_buffer};
  return key;
}

std::vector<gpu::PipelineKey> step_pipeline_keys(const DeviceCaps& caps, const Program& program) {
  if (program.states.empty()) return {};
  return {two_buffers_key(program, end_steps(caps, {}, {}))};
}

std::vector<gpu::PipelineKey> binding_pipeline_keys(const DeviceCaps& caps, const Graph& graph,
                                                    const Program& program) {
  std::vector<gpu::PipelineKey> keys;
  add_frame_keys(graph, program, keys);
  add_output_keys(caps, program, keys);
  const StridedWords word{LoopNest{Shape{1}, {{1}}}, 4};
  for (const bool scatter : {false, true})
    keys.push_back(two_buffers_key(program, copy_strided_words(caps, word, scatter)));
  return keys;
}

}  // namespace vellum
