// The pipelines for bindings other than dense buffers: images of the application and buffers with strides.
#pragma once

#include <vector>

#include "caps/device_caps.hpp"
#include "graph/graph.hpp"
#include "kernels/movement/frame_image.hpp"
#include "program/program.hpp"
#include "vellum/frame.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum {

// Returns the frame format of an input that takes frames, or null for other inputs. `graph`: the program's
// graph.
const FrameInput* frame_input(const Graph& graph, const Port& port);

// Returns whether the dispatch reads or writes the tensor `root`.
bool binds(const Program& program, const Dispatch& dispatch, TensorId root);

// Returns the pipeline of a dispatch that reads an image instead of the frame bytes in `root`. For
// FrameImage::planes the caller sets PipelineKey::planes.
gpu::PipelineKey frame_image_key(const Program& program, const Dispatch& dispatch, TensorId root,
                                 const FrameInput& frame, FrameImage image);
// Returns the pipeline of a dispatch of store_image().
gpu::PipelineKey store_image_key(const Program& program, const Dispatch& dispatch);
// Returns the pipeline of a dispatch that binds two buffers outside of the program: copy_strided_words(),
// end_steps().
gpu::PipelineKey two_buffers_key(const Program& program, const Dispatch& dispatch);

// Returns the pipelines that loops of steps may need beside those of the program.
std::vector<gpu::PipelineKey> step_pipeline_keys(const DeviceCaps& caps, const Program& program);
// Returns all pipelines that bindings of this program may need: frames in every kind of image, outputs in
// every format of ImageBinding, strides. PipelineKey::planes is not set.
std::vector<gpu::PipelineKey> binding_pipeline_keys(const DeviceCaps& caps, const Graph& graph,
                                                    const Program& program);

}  // namespace vellum
