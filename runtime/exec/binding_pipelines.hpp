// The pipelines of what an application binds in place of dense buffers: images and buffers with strides.
#pragma once

#include <vector>

#include "caps/device_caps.hpp"
#include "graph/graph.hpp"
#include "kernels/movement/frame_image.hpp"
#include "program/program.hpp"
#include "vellum/frame.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum {

// The frames that the port's bytes are; null for an input that is none. `graph`: the program's.
const FrameInput* frame_input(const Graph& graph, const Port& port);

// Whether the dispatch reads or writes the tensor at `root`.
bool binds(const Program& program, const Dispatch& dispatch, TensorId root);

// The pipeline of a dispatch that reads an image in place of the frame whose bytes are at `root`. For
// FrameImage::planes the caller sets PipelineKey::planes.
gpu::PipelineKey frame_image_key(const Program& program, const Dispatch& dispatch, TensorId root,
                                 const FrameInput& frame, FrameImage image);
// The pipeline of a dispatch of store_image().
gpu::PipelineKey store_image_key(const Program& program, const Dispatch& dispatch);
// The pipeline of a dispatch of copy_strided_words().
gpu::PipelineKey strided_words_key(const Program& program, const Dispatch& dispatch);

// All that bindings of this program may need: its frames in every kind of image, its outputs in every format
// of ImageBinding, strides. Their keys have no PipelineKey::planes.
std::vector<gpu::PipelineKey> binding_pipeline_keys(const DeviceCaps& caps, const Graph& graph,
                                                    const Program& program);

}  // namespace vellum
