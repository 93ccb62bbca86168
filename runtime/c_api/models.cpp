// Models, their tensors and nodes, for C.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/option_members.hpp"
#include "c_api/support.hpp"
#include "platform/utf8_path.hpp"

using vellum::c_api::given_or_default;
using vellum::c_api::guarded;
using vellum::c_api::require;
using vellum::c_api::require_index;
using vellum::c_api::size_that_ends_at;
using vellum::c_api::write_defaults;
using vellum::c_api::write_result;
using vellum::c_api::write_tensor_info;
using vellum::platform::utf8_path;

namespace {

vellum_load_limits limit_defaults() noexcept {
  const vellum::LoadLimits defaults;
  vellum_load_limits limits{};
  limits.size = sizeof limits;
#define VELLUM_OPTION(kind, name, member, what) vellum::c_api::to_c(defaults.member, limits.name);
#include "vellum/load_limits.def"
  return limits;
}

vellum::LoadLimits to_cpp(const vellum_load_limits* c_limits) {
  const vellum_load_limits given = given_or_default(c_limits, limit_defaults());
  vellum::LoadLimits limits;
#define VELLUM_OPTION(kind, name, member, what) vellum::c_api::from_c(given.name, limits.member, #name);
#include "vellum/load_limits.def"
  return limits;
}

static_assert(static_cast<int>(vellum::DType::i64) == VELLUM_I64);
static_assert(static_cast<int>(vellum::DType::boolean) == VELLUM_BOOL);

// Owns the names that a vellum_node_info points to.
struct NodeNames {
  explicit NodeNames(const vellum::NodeInfo& node) {
    for (const std::string& input : node.inputs) inputs.push_back(input.c_str());
    for (const std::string& output : node.outputs) outputs.push_back(output.c_str());
    for (const vellum::Shape& shape : node.output_shapes) shapes.push_back({shape.data(), shape.size()});
    shapes.resize(outputs.size());
  }

  std::vector<const char*> inputs, outputs;
  std::vector<vellum_shape> shapes;
};

}  // namespace

struct vellum_node_list {
  std::vector<vellum::NodeInfo> nodes;
  std::vector<NodeNames> names;  // pointers into `nodes`
};

vellum::InputShapes vellum::c_api::input_shapes(const vellum_input_shape* c_shapes, size_t count) {
  vellum::InputShapes shapes;
  if (count) require(c_shapes, "input_shapes");
  for (size_t i = 0; i < count; ++i) {
    require(c_shapes[i].name, "the name of an input shape");
    if (c_shapes[i].rank) require(c_shapes[i].dims, "the dims of an input shape");
    shapes[c_shapes[i].name] = vellum::Shape(c_shapes[i].dims, c_shapes[i].dims + c_shapes[i].rank);
  }
  return shapes;
}

vellum::InputTensors vellum::c_api::shape_values(const vellum_shape_values* values, size_t count) {
  vellum::InputTensors tensors;
  if (count) require(values, "input_values");
  for (size_t i = 0; i < count; ++i) {
    const vellum_shape_values& from = values[i];
    require(from.name, "the name of values");
    if (from.rank) require(from.dims, "the dims of values");
    if (from.byte_count) require(from.values, "values");
    const vellum::TensorInfo info{from.name, checked_choice<vellum::DType>(from.dtype, VELLUM_BOOL, "dtype"),
                                  vellum::Shape(from.dims, from.dims + from.rank)};
    if (!is_known(info.shape) || byte_size(info) != from.byte_count)
      throw Error(ErrorCode::invalid_argument, "the values of input '" + info.name + "' are " +
                                                   std::to_string(from.byte_count) + " bytes, which is no " +
                                                   std::string(vellum::name(info.dtype)) + " " +
                                                   vellum::to_string(info.shape));
    Tensor tensor(info.dtype, info.shape);
    if (from.byte_count) std::memcpy(tensor.mutable_data(), from.values, from.byte_count);
    tensors.insert_or_assign(info.name, std::move(tensor));
  }
  return tensors;
}

size_t vellum::c_api::byte_size(const TensorInfo& info) {
  if (!is_known(info.shape)) return 0;
  return static_cast<size_t>(checked_element_count(info.shape)) * size_of(info.dtype);
}

void vellum::c_api::write_tensor_info(const TensorInfo& tensor, vellum_tensor_info* info) {
  write_result(info,
               {0, tensor.name.c_str(), tensor.shape.data(), tensor.shape.size(),
                static_cast<vellum_dtype>(tensor.dtype), byte_size(tensor), tensor.decides_shapes,
                tensor.signature_name.c_str(), tensor.initial_value ? tensor.initial_value->data() : nullptr},
               "info");
}

void vellum::c_api::write_tensor_info(const std::vector<TensorInfo>& tensors, size_t index, const char* kind,
                                      vellum_tensor_info* info) {
  require_index(index, tensors.size(), kind);
  write_tensor_info(tensors[index], info);
}

vellum_tensor* vellum::c_api::new_tensor(const char* name, Tensor tensor) {
  TensorInfo info{name, tensor.dtype(), tensor.shape()};
  return new vellum_tensor{std::move(info), std::move(tensor)};
}

vellum_status vellum_model_load(const char* file, vellum_model** model, vellum_error* error) {
  return vellum_model_load_within(file, nullptr, model, error);
}

vellum_status vellum_model_load_bytes(const void* bytes, size_t byte_count, vellum_model** model,
                                      vellum_error* error) {
  return vellum_model_load_bytes_within(bytes, byte_count, nullptr, model, error);
}

void vellum_load_limits_init_sized(vellum_load_limits* limits, size_t size) {
  write_defaults(limits, size, limit_defaults());
}

void(vellum_load_limits_init)(vellum_load_limits* limits) {
  constexpr size_t end = offsetof(vellum_load_limits, nesting) + sizeof(limits->nesting);
  write_defaults(limits, size_that_ends_at<vellum_load_limits>(end), limit_defaults());
}

vellum_status vellum_model_load_within(const char* file, const vellum_load_limits* limits,
                                       vellum_model** model, vellum_error* error) {
  return vellum_model_load_signature(file, limits, nullptr, model, error);
}

vellum_status vellum_model_load_signature(const char* file, const vellum_load_limits* limits,
                                          const char* signature, vellum_model** model, vellum_error* error) {
  if (model) *model = nullptr;
  return guarded(error, [&] {
    require(file, "file");
    require(model, "model");
    *model =
        new vellum_model{vellum::Model::load(utf8_path(file), to_cpp(limits), signature ? signature : "")};
  });
}

vellum_status vellum_model_load_bytes_within(const void* bytes, size_t byte_count,
                                             const vellum_load_limits* limits, vellum_model** model,
                                             vellum_error* error) {
  return vellum_model_load_bytes_signature(bytes, byte_count, limits, nullptr, model, error);
}

vellum_status vellum_model_load_bytes_signature(const void* bytes, size_t byte_count,
                                                const vellum_load_limits* limits, const char* signature,
                                                vellum_model** model, vellum_error* error) {
  if (model) *model = nullptr;
  return guarded(error, [&] {
    require(bytes, "bytes");
    require(model, "model");
    const std::span<const std::byte> data(static_cast<const std::byte*>(bytes), byte_count);
    *model = new vellum_model{vellum::Model::load(data, to_cpp(limits), signature ? signature : "")};
  });
}

vellum_status vellum_model_load_borrowed(const void* bytes, size_t byte_count,
                                         const vellum_load_limits* limits, vellum_release_callback release,
                                         void* release_user, vellum_model** model, vellum_error* error) {
  if (model) *model = nullptr;
  return guarded(error, [&] {
    // Releases them also if the allocation of its counter fails.
    std::shared_ptr<const std::byte> lent(static_cast<const std::byte*>(bytes),
                                          [release, release_user](const std::byte*) {
                                            if (release) release(release_user);
                                          });
    require(bytes, "bytes");
    require(model, "model");
    *model = new vellum_model{vellum::Model::load(std::move(lent), byte_count, to_cpp(limits))};
  });
}

void vellum_model_destroy(vellum_model* model) { delete model; }

size_t vellum_model_input_count(const vellum_model* model) {
  return model ? model->model.inputs().size() : 0;
}

size_t vellum_model_output_count(const vellum_model* model) {
  return model ? model->model.outputs().size() : 0;
}

vellum_status vellum_model_input(const vellum_model* model, size_t index, vellum_tensor_info* info,
                                 vellum_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    write_tensor_info(model->model.inputs(), index, "input", info);
  });
}

vellum_status vellum_model_output(const vellum_model* model, size_t index, vellum_tensor_info* info,
                                  vellum_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    write_tensor_info(model->model.outputs(), index, "output", info);
  });
}

vellum_status vellum_tensor_get_info(const vellum_tensor* tensor, vellum_tensor_info* info,
                                     vellum_error* error) {
  return guarded(error, [&] {
    require(tensor, "tensor");
    write_tensor_info(tensor->info, info);
  });
}

size_t vellum_model_signature_count(const vellum_model* model) {
  return model ? model->model.signatures().size() : 0;
}

const char* vellum_model_signature(const vellum_model* model, size_t index) {
  return index < vellum_model_signature_count(model) ? model->model.signatures()[index].c_str() : nullptr;
}

const void* vellum_tensor_values(const vellum_tensor* tensor) {
  return tensor ? tensor->tensor.data() : nullptr;
}

void vellum_halves_from_floats(const float* floats, size_t count, uint16_t* halves) {
  if (floats && halves) std::transform(floats, floats + count, halves, vellum::float_to_half);
}

void vellum_floats_from_halves(const uint16_t* halves, size_t count, float* floats) {
  if (halves && floats) std::transform(halves, halves + count, floats, vellum::half_to_float);
}

void vellum_tensor_destroy(vellum_tensor* tensor) { delete tensor; }

vellum_status vellum_node_list_create(const vellum_model* model, const vellum_input_shape* shapes,
                                      size_t shape_count, vellum_node_list** list, vellum_error* error) {
  if (list) *list = nullptr;
  return guarded(error, [&] {
    require(model, "model");
    require(list, "list");
    auto made = std::make_unique<vellum_node_list>();
    made->nodes = model->model.nodes(vellum::c_api::input_shapes(shapes, shape_count));
    for (const vellum::NodeInfo& node : made->nodes) made->names.emplace_back(node);
    *list = made.release();
  });
}

void vellum_node_list_destroy(vellum_node_list* list) { delete list; }

size_t vellum_node_list_count(const vellum_node_list* list) { return list ? list->nodes.size() : 0; }

vellum_status vellum_node_list_get(const vellum_node_list* list, size_t index, vellum_node_info* info,
                                   vellum_error* error) {
  return guarded(error, [&] {
    require(list, "list");
    require_index(index, list->nodes.size(), "node");
    const vellum::NodeInfo& node = list->nodes[index];
    const NodeNames& names = list->names[index];
    write_result(info,
                 {0, node.name.c_str(), node.op.c_str(), node.attributes.c_str(), names.inputs.data(),
                  names.inputs.size(), names.outputs.data(), names.outputs.size(), names.shapes.data(),
                  node.parameters, node.macs},
                 "info");
  });
}
