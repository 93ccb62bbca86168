// Vellum: Vulkan compute inference for vision models, with planned, shared memory.
//
//   vellum::Device device = vellum::Device::open();
//   vellum::Model model = vellum::Model::load("model.onnx");
//   vellum::Session session(device, model);
//   auto outputs = session.run({{"image", vellum::Tensor::f32({1, 3, 224, 224}, pixels)}});
//
// Every function may throw vellum::Error and nothing else. The library prints nothing and keeps no global
// state.
#pragma once

#include "vellum/device.hpp"
#include "vellum/error.hpp"
#include "vellum/limits.hpp"
#include "vellum/log.hpp"
#include "vellum/memory_pool.hpp"
#include "vellum/model.hpp"
#include "vellum/options.hpp"
#include "vellum/profile.hpp"
#include "vellum/session.hpp"
#include "vellum/session_options.hpp"
#include "vellum/tensor.hpp"
