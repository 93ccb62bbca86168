#include "running_part.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "api/impl.hpp"

namespace vellum::lite {
namespace {

Shape shape_of(const TfLiteTensor& tensor) {
  const std::span<const int> dims = ints(tensor.dims);
  return Shape(dims.begin(), dims.end());
}

// The interpreter frees the list, which it allocates with malloc() itself. (Its ResizeTensorExplicit, which
// copies, is null.)
TfLiteIntArray* new_list(const Shape& shape) {
  void* memory = std::malloc(sizeof(int) * (shape.size() + 1));
  if (memory == nullptr) throw std::bad_alloc();
  auto* list = static_cast<TfLiteIntArray*>(memory);
  list->size = static_cast<int>(shape.size());
  std::ranges::transform(shape, list->data, [](int64_t dim) { return static_cast<int>(dim); });
  return list;
}

void resize(TfLiteContext* context, TfLiteTensor& tensor, const Shape& shape) {
  if (shape_of(tensor) == shape && tensor.allocation_type != kTfLiteDynamic) return;
  check(context->ResizeTensor(context, &tensor, new_list(shape)), "ResizeTensor");
}

// The interpreter allocates a dynamic tensor when it is resized during a run.
void make_dynamic(TfLiteTensor& tensor) {
  if (tensor.allocation_type == kTfLiteDynamic) return;
  tensor.allocation_type = kTfLiteDynamic;
  tensor.data.raw = nullptr;
}

std::span<std::byte> bytes_of(const TfLiteTensor& tensor) {
  return {reinterpret_cast<std::byte*>(tensor.data.raw), tensor.data.raw == nullptr ? 0 : tensor.bytes};
}

}  // namespace

RunningPart::RunningPart(const Shared& shared, ClaimedPart claimed, size_t number)
    : shared_(shared),
      part_(std::move(claimed.part)),
      open_(std::move(claimed.open)),
      inputs_(part_.inputs),
      outputs_(part_.outputs),
      profile_page_(shared.options.profile_html, number, "LiteRT") {
  const ImportedPart imported = std::move(claimed.imported);
  // A state is a further input, and its next value a further output.
  inputs_.insert(inputs_.end(), imported.states.begin(), imported.states.end());
  outputs_.insert(outputs_.end(), imported.states.begin(), imported.states.end());
  make_session(imported);
}

void RunningPart::make_session(const ImportedPart& imported) {
  const Model model = Handles::model(std::make_shared<const Model::Impl>(imported.graph));
  if (model.inputs().size() != inputs_.size() || model.outputs().size() != outputs_.size())
    throw Error(ErrorCode::internal, "the part has other inputs or outputs than its nodes");
  SessionOptions options = shared_.options.session;
  options.memory_pool = shared_.pool;
  session_ = std::make_unique<Session>(shared_.device, model, options);
}

InputShapes RunningPart::input_shapes(const TfLiteContext* context) const {
  InputShapes shapes;
  for (size_t i = 0; i < inputs_.size(); ++i)
    shapes[session_->inputs()[i].name] = shape_of(tensor_of(context, inputs_[i]));
  return shapes;
}

// Whether values that only a run has decide shapes.
bool RunningPart::shapes_are_late() const {
  return std::ranges::any_of(session_->inputs(),
                             [](const TensorInfo& input) { return input.decides_shapes; });
}

void RunningPart::prepare_session(TfLiteContext* context) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorInfo& input = session_->inputs()[i];
    if (!input.decides_shapes) continue;
    const TfLiteTensor& tensor = tensor_of(context, inputs_[i]);
    HostTensor values(input.dtype, shape_of(tensor));
    if (values.byte_size() != tensor.bytes)
      throw Error(ErrorCode::internal, "'" + input.name + "' has " + std::to_string(tensor.bytes) + " bytes");
    if (tensor.bytes > 0) std::memcpy(values.mutable_data(), tensor.data.raw_const, tensor.bytes);
    session_->set_input(input.name, values);
  }
  session_->prepare(input_shapes(context));
}

void RunningPart::prepare(TfLiteContext* context) {
  if (shapes_are_late()) {
    for (const int tensor : part_.outputs) make_dynamic(context->tensors[tensor]);
    return;
  }
  try {
    prepare_session(context);
  } catch (const Error& error) {
    // The file fixes a dimension that the application has changed.
    if (error.code() != ErrorCode::invalid_argument || accepts_all_shapes_) throw;
    session_.reset();
    make_session(import_part(open_));
    accepts_all_shapes_ = true;
    prepare_session(context);
  }
  resize_results(context);
}

void RunningPart::resize_results(TfLiteContext* context) const {
  for (size_t i = 0; i < part_.outputs.size(); ++i) {
    TfLiteTensor& tensor = context->tensors[part_.outputs[i]];
    const Shape& shape = session_->outputs()[i].shape;
    if (is_known(shape))
      resize(context, tensor, shape);
    else
      make_dynamic(tensor);
  }
}

void RunningPart::invoke(TfLiteContext* context) {
  process_.check();
  if (shapes_are_late()) {
    prepare_session(context);
    resize_results(context);
  }
  std::vector<InputValues> inputs;
  for (size_t i = 0; i < inputs_.size(); ++i)
    inputs.push_back({session_->inputs()[i].name, bytes_of(tensor_of(context, inputs_[i]))});
  std::vector<OutputValues> results;
  std::vector<size_t> late;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorInfo& output = session_->outputs()[i];
    if (is_known(output.shape))
      results.push_back({output.name, bytes_of(tensor_of(context, outputs_[i]))});
    else
      late.push_back(i);
  }
  const Run run = session_->submit(inputs, results);
  run.wait();
  for (const size_t i : late) {
    const Tensor value = run.output(session_->outputs()[i].name);
    TfLiteTensor& tensor = context->tensors[outputs_[i]];
    resize(context, tensor, value.shape());
    if (value.byte_size() > 0) std::memcpy(tensor.data.raw, value.data(), value.byte_size());
  }
  profile_page_.write(*session_, "network", shared_.device);
}

}  // namespace vellum::lite
