// The C interface over the C++ one: every function catches what its body throws.
#include <algorithm>
#include <cstring>

#include "api/c_api_support.hpp"

namespace {

using vellum::Error;
using vellum::ErrorCode;
using vellum::c_api::checked_choice;
using vellum::c_api::given_or_default;
using vellum::c_api::guarded;
using vellum::c_api::new_session;
using vellum::c_api::require;
using vellum::c_api::utf8_path;
using vellum::c_api::write_result;
using vellum::c_api::write_tensor_info;

static_assert(static_cast<int>(ErrorCode::invalid_argument) + 1 == VELLUM_INVALID_ARGUMENT);
static_assert(static_cast<int>(ErrorCode::corrupt_model) + 1 == VELLUM_CORRUPT_MODEL);
static_assert(static_cast<int>(ErrorCode::internal) + 1 == VELLUM_INTERNAL);
static_assert(static_cast<int>(ErrorCode::cancelled) + 1 == VELLUM_CANCELLED);
static_assert(static_cast<int>(vellum::DType::i64) == VELLUM_I64);
static_assert(static_cast<int>(vellum::DType::boolean) == VELLUM_BOOL);
static_assert(static_cast<int>(vellum::LogLevel::error) == VELLUM_LOG_ERROR);
static_assert(static_cast<int>(vellum::StorageChoice::buffer) == VELLUM_STORAGE_BUFFER);
static_assert(static_cast<int>(vellum::MemoryMode::naive) == VELLUM_MEMORY_NAIVE);
static_assert(static_cast<int>(vellum::Arithmetic::automatic) == VELLUM_ARITHMETIC_AUTO);
static_assert(static_cast<int>(vellum::Winograd::f4) == VELLUM_WINOGRAD_F4);
static_assert(static_cast<int>(vellum::GlobalPriority::realtime) == VELLUM_PRIORITY_REALTIME);
static_assert(static_cast<int>(vellum::MemoryMode::offsets) == VELLUM_MEMORY_OFFSETS);

vellum_device_options device_defaults() noexcept {
  vellum_device_options options{};
  options.size = sizeof options;
  options.wait_limit_ms = vellum::DeviceOptions().wait_limit_ms;
  options.queue_priority = vellum::DeviceOptions().queue_priority;
  return options;
}

vellum_session_options session_defaults() noexcept {
  vellum_session_options options{};
  options.size = sizeof options;
  options.cached_shapes = vellum::SessionOptions().cached_shapes;
  options.in_flight = vellum::SessionOptions().in_flight;
  options.search_ms = vellum::SessionOptions().planning.search_ms;
  options.in_place = vellum::SessionOptions().planning.in_place;
  options.views = vellum::SessionOptions().planning.views;
  options.reorder = vellum::SessionOptions().planning.reorder;
  options.tuned = vellum::SessionOptions().tuned;
  options.max_submit_ms = VELLUM_SUBMIT_MS_AUTO;
  return options;
}

vellum::DeviceOptions to_cpp(const vellum_device_options& given) {
  vellum::DeviceOptions options;
  if (given.device) options.device = given.device;
  if (given.cache_folder) options.cache_folder = utf8_path(given.cache_folder);
  options.validation = given.validation != 0;
  options.android_baseline_2022 = given.android_baseline_2022 != 0;
  options.wait_limit_ms = given.wait_limit_ms;
  options.queue_priority = given.queue_priority;
  options.global_priority = checked_choice<vellum::GlobalPriority>(
      given.global_priority, VELLUM_PRIORITY_REALTIME, "global_priority");
  options.debug_labels = given.debug_labels != 0;
  if (given.log)
    options.log = [log = given.log, user = given.log_user](vellum::LogLevel level, std::string_view message) {
      log(static_cast<vellum_log_level>(level), std::string(message).c_str(), user);
    };
  return options;
}

vellum::InputShapes to_cpp(const vellum_input_shape* given, size_t count) {
  vellum::InputShapes shapes;
  if (count) require(given, "input_shapes");
  for (size_t i = 0; i < count; ++i) {
    require(given[i].name, "the name of an input shape");
    if (given[i].rank) require(given[i].dims, "the dims of an input shape");
    shapes[given[i].name] = vellum::Shape(given[i].dims, given[i].dims + given[i].rank);
  }
  return shapes;
}

vellum::SessionOptions to_cpp(const vellum_session_options& given) {
  vellum::SessionOptions options;
  options.precision = checked_choice<vellum::Precision>(given.precision, VELLUM_FP16, "precision");
  options.storage = checked_choice<vellum::StorageChoice>(given.storage, VELLUM_STORAGE_BUFFER, "storage");
  options.memory = checked_choice<vellum::MemoryMode>(given.memory, VELLUM_MEMORY_OFFSETS, "memory");
  if (given.strategy) options.planning.strategy = given.strategy;
  options.input_shapes = to_cpp(given.input_shapes, given.input_shape_count);
  options.cached_shapes = given.cached_shapes;
  options.tasks_per_submit = given.tasks_per_submit;
  options.profile = given.profile != 0;
  options.planning.search_ms = given.search_ms;
  options.planning.in_place = given.in_place != 0;
  options.planning.views = given.views != 0;
  options.planning.reorder = given.reorder != 0;
  options.weights_budget = given.weights_budget;
  options.winograd = checked_choice<vellum::Winograd>(given.winograd, VELLUM_WINOGRAD_F4, "winograd");
  options.arithmetic =
      checked_choice<vellum::Arithmetic>(given.arithmetic, VELLUM_ARITHMETIC_AUTO, "arithmetic");
  options.in_flight = given.in_flight;
  options.tuned = given.tuned != 0;
  options.check_finite = given.check_finite != 0;
  if (given.disabled_pass_count) require(given.disabled_passes, "disabled_passes");
  for (size_t i = 0; i < given.disabled_pass_count; ++i) {
    require(given.disabled_passes[i], "the name of a pass");
    options.debug.disabled_passes.emplace_back(given.disabled_passes[i]);
  }
  if (given.max_submit_ms != VELLUM_SUBMIT_MS_AUTO) options.max_submit_ms = given.max_submit_ms;
  return options;
}

size_t byte_size(const vellum::TensorInfo& info) {
  if (!vellum::is_known(info.shape)) return 0;
  return static_cast<size_t>(vellum::checked_element_count(info.shape)) * vellum::size_of(info.dtype);
}

}  // namespace

std::filesystem::path vellum::c_api::utf8_path(const char* text) {
  return std::filesystem::path(std::u8string(text, text + std::strlen(text)));
}

void vellum::c_api::write_tensor_info(const std::vector<TensorInfo>& tensors, size_t index, const char* kind,
                                      vellum_tensor_info* info) {
  if (index >= tensors.size())
    throw Error(ErrorCode::invalid_argument, "there is no " + std::string(kind) + " " +
                                                 std::to_string(index) + "; there are " +
                                                 std::to_string(tensors.size()));
  const vellum::TensorInfo& tensor = tensors[index];
  write_result(info,
               {0, tensor.name.c_str(), tensor.shape.data(), tensor.shape.size(),
                static_cast<vellum_dtype>(tensor.dtype), byte_size(tensor)},
               "info");
}

namespace {

const vellum::TensorInfo& find(const std::vector<vellum::TensorInfo>& tensors, const char* name,
                               const char* kind) {
  for (const vellum::TensorInfo& tensor : tensors)
    if (tensor.name == name) return tensor;
  std::string known;
  for (const vellum::TensorInfo& tensor : tensors) known += (known.empty() ? "'" : ", '") + tensor.name + "'";
  throw Error(ErrorCode::not_found,
              "there is no " + std::string(kind) + " '" + name + "'; the model has " + known);
}

void check_size(const vellum::TensorInfo& tensor, size_t byte_count) {
  if (byte_count != byte_size(tensor))
    throw Error(ErrorCode::invalid_argument,
                "'" + tensor.name + "' is " + std::string(vellum::name(tensor.dtype)) + " " +
                    vellum::to_string(tensor.shape) + ", which takes " + std::to_string(byte_size(tensor)) +
                    " bytes, but " + std::to_string(byte_count) + " were given");
}

// The caller's bytes as they lie there: set_input() has copied them when it returns.
void set_input(vellum_session& session, const vellum::TensorInfo& input, const void* values,
               size_t byte_count) {
  check_size(input, byte_count);
  const std::shared_ptr<const std::byte> bytes(std::shared_ptr<void>(),
                                               static_cast<const std::byte*>(values));
  session.session.set_input(input.name, vellum::Tensor(input.dtype, input.shape, bytes));
}

}  // namespace

vellum_session* vellum::c_api::new_session(Session session, bool profile) {
  auto made = std::make_unique<vellum_session>(vellum_session{std::move(session), {}, {}, {}, profile, {}});
  made->refresh();
  return made.release();
}

vellum_status vellum::c_api::fail(vellum_error* error, ErrorCode code, const char* message) noexcept {
  const auto status = static_cast<vellum_status>(static_cast<int>(code) + 1);
  if (!error) return status;
  error->status = status;
  size_t length = std::min(std::strlen(message), size_t{VELLUM_MESSAGE_BYTES - 1});
  // Where the message is cut, not inside a UTF-8 sequence: its continuation bytes are 10xxxxxx.
  if (message[length])
    while (length > 0 && (static_cast<unsigned char>(message[length]) & 0xc0) == 0x80) --length;
  std::memcpy(error->message, message, length);
  error->message[length] = 0;
  return status;
}

vellum::DeviceOptions vellum::c_api::device_options(const vellum_device_options* given) {
  return to_cpp(given_or_default(given, device_defaults()));
}

vellum::SessionOptions vellum::c_api::session_options(const vellum_session_options* given) {
  return to_cpp(given_or_default(given, session_defaults()));
}

// Reads again what follows from the shapes, where these are others than before.
void vellum_session::refresh() {
  std::vector<vellum::Shape> now;
  for (const vellum::TensorInfo& input : session.inputs()) now.push_back(input.shape);
  vellum::MemoryReport report = session.memory();
  if (now == shapes && report.objects.size() == memory.objects.size()) return;
  shapes = std::move(now);
  memory = std::move(report);
  object_tensors.clear();
  for (const vellum::ObjectReport& object : memory.objects) {
    std::vector<const char*>& names = object_tensors.emplace_back();
    for (const std::string& tensor : object.tensors) names.push_back(tensor.c_str());
  }
}

uint32_t vellum_version(void) { return VELLUM_VERSION; }

const char* vellum_status_text(vellum_status status) {
  return status == VELLUM_OK ? "ok" : vellum::to_string(static_cast<ErrorCode>(static_cast<int>(status) - 1));
}

void vellum_device_options_init(vellum_device_options* options) {
  if (options) *options = device_defaults();
}

vellum_status vellum_device_open(const vellum_device_options* options, vellum_device** device,
                                 vellum_error* error) {
  if (device) *device = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    vellum::Device opened = vellum::Device::open(vellum::c_api::device_options(options));
    vellum::DeviceInfo info = opened.info();
    *device = new vellum_device{std::move(opened), std::move(info)};
  });
}

void vellum_device_destroy(vellum_device* device) { delete device; }

void vellum_session_options_init(vellum_session_options* options) {
  if (options) *options = session_defaults();
}

vellum_status vellum_session_create(const vellum_device* device, const vellum_model* model,
                                    const vellum_session_options* options, vellum_session** session,
                                    vellum_error* error) {
  if (session) *session = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(model, "model");
    require(session, "session");
    const vellum::SessionOptions given = vellum::c_api::session_options(options);
    *session = new_session(vellum::Session(device->device, model->model, given), given.profile);
  });
}

void vellum_session_destroy(vellum_session* session) { delete session; }

size_t vellum_session_warning_count(const vellum_session* session) {
  return session ? session->session.warnings().size() : 0;
}

const char* vellum_session_warning(const vellum_session* session, size_t index) {
  return index < vellum_session_warning_count(session) ? session->session.warnings()[index].c_str() : "";
}

size_t vellum_session_input_count(const vellum_session* session) {
  return session ? session->session.inputs().size() : 0;
}

size_t vellum_session_output_count(const vellum_session* session) {
  return session ? session->session.outputs().size() : 0;
}

vellum_status vellum_session_input(const vellum_session* session, size_t index, vellum_tensor_info* info,
                                   vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    write_tensor_info(session->session.inputs(), index, "input", info);
  });
}

vellum_status vellum_session_output(const vellum_session* session, size_t index, vellum_tensor_info* info,
                                    vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    write_tensor_info(session->session.outputs(), index, "output", info);
  });
}

vellum_status vellum_session_set_input(vellum_session* session, const char* name, const void* values,
                                       size_t byte_count, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    require(name, "name");
    require(values, "values");
    const vellum::TensorInfo& input = find(session->session.inputs(), name, "input");
    if (!vellum::is_known(input.shape))
      throw Error(ErrorCode::invalid_argument, "the shape of input '" + input.name + "' is open (" +
                                                   vellum::to_string(input.shape) +
                                                   "); use vellum_session_set_input_shaped");
    set_input(*session, input, values, byte_count);
  });
}

vellum_status vellum_session_set_input_shaped(vellum_session* session, const char* name, const int64_t* dims,
                                              size_t rank, const void* values, size_t byte_count,
                                              vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    require(name, "name");
    if (rank) require(dims, "dims");
    require(values, "values");
    vellum::TensorInfo input = find(session->session.inputs(), name, "input");
    input.shape = vellum::Shape(dims, dims + rank);
    if (!std::all_of(dims, dims + rank, [](int64_t dim) { return dim > 0; }))
      throw Error(ErrorCode::invalid_argument, "the shape given for input '" + input.name + "', " +
                                                   vellum::to_string(input.shape) +
                                                   ", must have positive dimensions only");
    set_input(*session, input, values, byte_count);
  });
}

vellum_status vellum_session_prepare(vellum_session* session, const vellum_input_shape* shapes,
                                     size_t shape_count, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    session->session.prepare(to_cpp(shapes, shape_count));
    session->refresh();
  });
}

vellum_status vellum_session_run(vellum_session* session, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    session->session.run();
    session->refresh();
    if (session->profile) session->layers = session->session.layer_times();
  });
}

vellum_status vellum_session_get_output(const vellum_session* session, const char* name, void* values,
                                        size_t byte_count, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    require(name, "name");
    if (byte_count) require(values, "values");
    check_size(find(session->session.outputs(), name, "output"), byte_count);
    session->session.output(name, std::span(static_cast<std::byte*>(values), byte_count));
  });
}

vellum_status vellum_session_memory(const vellum_session* session, vellum_memory_report* report,
                                    vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    const vellum::MemoryReport& memory = session->memory;
    write_result(report,
                 {0, memory.objects.size(), memory.naive_bytes, memory.planned_bytes,
                  memory.lower_bound_bytes, memory.allocated_bytes, memory.weights_bytes, memory.in_out_bytes,
                  memory.streamed_weights_bytes, memory.in_flight},
                 "report");
  });
}

vellum_status vellum_session_object(const vellum_session* session, size_t index, vellum_object_report* report,
                                    vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    if (index >= session->memory.objects.size())
      throw Error(ErrorCode::invalid_argument, "there is no object " + std::to_string(index));
    const vellum::ObjectReport& object = session->memory.objects[index];
    write_result(report,
                 {0,
                  object.kind.c_str(),
                  object.format.c_str(),
                  {object.extent[0], object.extent[1], object.extent[2]},
                  object.reuse_count,
                  object.bytes,
                  session->object_tensors[index].data()},
                 "report");
  });
}

size_t vellum_session_layer_count(const vellum_session* session) {
  return session ? session->layers.size() : 0;
}

vellum_status vellum_session_layer(const vellum_session* session, size_t index, vellum_layer_time* time,
                                   vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    if (index >= session->layers.size())
      throw Error(ErrorCode::invalid_argument, "there is no layer " + std::to_string(index));
    const vellum::LayerTime& layer = session->layers[index];
    write_result(time,
                 {0, layer.name.c_str(), layer.op.c_str(), layer.shader.c_str(), layer.gpu_ms, layer.begin_ms,
                  layer.storage.c_str()},
                 "time");
  });
}
