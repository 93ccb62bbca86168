/* An application in C: compiled as C, so that the header stays C. */
#include "c_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vellum/vellum.h>
#include <vellum/vellum_vulkan.h> /* compiles as C, too */

#include "c_checks.h"

static int is_test_limits(void) {
  const char* limits = getenv("VELLUM_TEST_LIMITS");
  return limits && strcmp(limits, "android_baseline_2022") == 0;
}

static void count_destroyed(void* user) { ++*(int*)user; }

static void count_log(vellum_log_level level, const char* message, void* user) {
  if (level == VELLUM_LOG_ERROR && message[0]) ++*(size_t*)user;
}

static void count_steps(const char* step, size_t done, size_t total, void* user) {
  if (step[0] && done <= total) ++*(size_t*)user;
}

/* With validation, whose errors are counted, and the limits of the test. */
static vellum_status open_checked(vellum_device** device, size_t* logged, vellum_error* error) {
  vellum_device_options options;
  vellum_device_options_init(&options);
  options.validation = getenv("VELLUM_TEST_WINE") == NULL;
  options.android_baseline_2022 = is_test_limits();
  options.log = count_log;
  options.log_user = logged;
  return vellum_device_open(&options, device, error);
}

int run_in_c(const void* model_bytes, size_t model_size, const float* input, size_t input_count,
             float* output, size_t output_count, char what[512]) {
  int line = 0;
  size_t logged = 0, i = 0;
  uint64_t object_bytes = 0;
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  vellum_model* model = NULL;
  vellum_session* session = NULL;
  vellum_session_options options;
  vellum_tensor_info info = VELLUM_SIZED(vellum_tensor_info);
  vellum_memory_report memory = VELLUM_SIZED(vellum_memory_report);
  vellum_memory_estimate estimate = VELLUM_SIZED(vellum_memory_estimate), phone = estimate;
  vellum_device_list* list = NULL;
  vellum_device_info found = VELLUM_SIZED(vellum_device_info), listed = found;
  vellum_layer_time layer = VELLUM_SIZED(vellum_layer_time);

  EXPECT(open_checked(&device, &logged, &error) == VELLUM_OK);
  EXPECT(vellum_device_name(device)[0] != 0 && vellum_device_driver(device)[0] != 0);
  EXPECT(vellum_device_get_info(device, &found, &error) == VELLUM_OK);
  EXPECT(strcmp(found.name, vellum_device_name(device)) == 0 && found.type[0] != 0 && found.api_version[0] == '1');
  EXPECT(vellum_device_list_create(&list, &error) == VELLUM_OK);
  EXPECT(vellum_device_list_count(list) > found.index);
  EXPECT(vellum_device_list_get(list, found.index, &listed, &error) == VELLUM_OK);
  EXPECT(strcmp(listed.name, found.name) == 0 && memcmp(listed.uuid, found.uuid, sizeof found.uuid) == 0);
  FAILS(vellum_device_list_get(list, 99, &listed, &error), VELLUM_INVALID_ARGUMENT, "no device 99");
  EXPECT(vellum_model_load_bytes(model_bytes, model_size, &model, &error) == VELLUM_OK);
  EXPECT(vellum_model_input_count(model) == 1 && vellum_model_output_count(model) == 1);
  EXPECT(vellum_model_input(model, 0, &info, &error) == VELLUM_OK);
  EXPECT(info.dtype == VELLUM_F32 && info.rank == 4 && info.byte_size == input_count * sizeof(float));
  EXPECT(vellum_model_output(model, 0, &info, &error) == VELLUM_OK && info.name[0] != 0);
  vellum_session_options_init(&options);
  options.profile = 1;
  EXPECT(options.weights_budget == 0 && options.winograd == VELLUM_WINOGRAD_AUTO && options.tuned == 1);
  options.weights_budget = 64 << 10;
  EXPECT(vellum_session_create(device, model, &options, &session, &error) == VELLUM_OK);
  EXPECT(vellum_estimate_memory(model, &options, device, NULL, &estimate, &error) == VELLUM_OK);
  EXPECT(vellum_estimate_memory(model, NULL, NULL, NULL, &phone, &error) == VELLUM_OK && phone.weights > 0);
  vellum_device_destroy(device); /* the session keeps it */
  vellum_model_destroy(model);
  device = NULL;
  model = NULL;

  EXPECT(vellum_session_input_count(session) == 1 && vellum_session_output_count(session) == 1);
  EXPECT(vellum_session_input(session, 0, &info, &error) == VELLUM_OK);
  EXPECT(info.dtype == VELLUM_F32 && info.byte_size == input_count * sizeof(float) && info.rank == 4);
  EXPECT(vellum_session_set_input(session, info.name, input, info.byte_size, &error) == VELLUM_OK);
  EXPECT(vellum_session_layer_count(session) == 0);
  EXPECT(vellum_session_run(session, &error) == VELLUM_OK);
  EXPECT(vellum_session_output(session, 0, &info, &error) == VELLUM_OK);
  EXPECT(vellum_session_get_output(session, info.name, output, output_count * sizeof(float), &error) ==
         VELLUM_OK);

  EXPECT(vellum_session_memory(session, &memory, &error) == VELLUM_OK);
  EXPECT(memory.object_count > 0 && memory.allocated_bytes >= memory.planned_bytes);
  EXPECT(memory.naive_bytes >= memory.planned_bytes && memory.planned_bytes >= memory.lower_bound_bytes);
  for (i = 0; i < memory.object_count; ++i) {
    vellum_object_report object = VELLUM_SIZED(vellum_object_report);
    uint32_t tensor = 0;
    EXPECT(vellum_session_object(session, i, &object, &error) == VELLUM_OK);
    EXPECT(object.kind[0] != 0 && object.reuse_count > 0);
    for (tensor = 0; tensor < object.reuse_count; ++tensor) EXPECT(object.tensors[tensor][0] != 0);
    object_bytes += object.bytes;
  }
  EXPECT(object_bytes == memory.planned_bytes);
  EXPECT(memory.weights_bytes > 0 && memory.weights_bytes <= options.weights_budget);
  EXPECT(estimate.allocated_peak >= memory.weights_bytes + memory.allocated_bytes + memory.in_out_bytes);
  EXPECT(estimate.total == estimate.weights + estimate.in_out + estimate.intermediates + estimate.workspace +
                               estimate.staging + estimate.resident);
  EXPECT(vellum_session_layer_count(session) > 0);
  EXPECT(vellum_session_layer(session, 0, &layer, &error) == VELLUM_OK && layer.op[0] != 0);
  EXPECT(layer.storage[0] != 0 && !(layer.begin_ms > 0)); /* the first one, or NaN */
  EXPECT(vellum_session_warning_count(session) == 0 && vellum_session_warning(session, 0)[0] == 0);
  EXPECT(logged == 0);

done:
  vellum_device_list_destroy(list);
  vellum_session_destroy(session);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  if (line == 0 && logged != 0) { /* destroying may be wrong too */
    snprintf(what, 512, "the validation layer reported %u messages", (unsigned)logged);
    line = __LINE__;
  }
  return line;
}

int find_in_c(const void* model_bytes, size_t model_size, char what[512]) {
  static const float inputs[4][4] = {{0, 2, 0, 3}, {1, 1, 1, 0}, {0, -1, -2, 0}, {0, 0, 0, 5}};
  static const size_t counts[4] = {2, 3, 0, 1}, last[4] = {3, 2, 0, 3};
  int line = 0;
  size_t i = 0;
  int64_t places[4] = {0};
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  vellum_model* model = NULL;
  vellum_session* session = NULL;
  vellum_tensor_info info = VELLUM_SIZED(vellum_tensor_info);
  vellum_input_values values = {"x", NULL, sizeof inputs[0], NULL, 0};
  vellum_run* run = NULL;
  vellum_tensor* tensor = NULL;

  EXPECT(vellum_device_open(NULL, &device, &error) == VELLUM_OK);
  EXPECT(vellum_model_load_bytes(model_bytes, model_size, &model, &error) == VELLUM_OK);
  EXPECT(vellum_session_create(device, model, NULL, &session, &error) == VELLUM_OK);
  EXPECT(vellum_session_output(session, 0, &info, &error) == VELLUM_OK);
  EXPECT(info.rank == 2 && info.dims[0] == 1 && info.dims[1] == -1 && info.byte_size == 0);
  FAILS(vellum_session_get_output(session, "places", places, 0, &error), VELLUM_INVALID_ARGUMENT, "run");
  for (i = 0; i < 4; ++i) {
    EXPECT(vellum_session_set_input(session, "x", inputs[i], sizeof inputs[i], &error) == VELLUM_OK);
    EXPECT(vellum_session_run(session, &error) == VELLUM_OK);
    EXPECT(vellum_session_output(session, 0, &info, &error) == VELLUM_OK);
    EXPECT(info.dtype == VELLUM_I64 && info.rank == 2 && info.dims[0] == 1);
    EXPECT(info.dims[1] == (int64_t)counts[i] && info.byte_size == counts[i] * sizeof places[0]);
    EXPECT(vellum_session_get_output(session, info.name, counts[i] ? places : NULL, info.byte_size, &error) ==
           VELLUM_OK);
    EXPECT(counts[i] == 0 || places[counts[i] - 1] == (int64_t)last[i]);
    FAILS(vellum_session_get_output(session, info.name, places, 100, &error), VELLUM_INVALID_ARGUMENT,
          "100 were given");
  }

  values.values = inputs[0];
  EXPECT(vellum_session_submit(session, &values, 1, NULL, 0, &run, &error) == VELLUM_OK);
  EXPECT(vellum_run_output(run, "places", &tensor, &error) == VELLUM_OK);
  EXPECT(vellum_tensor_get_info(tensor, &info, &error) == VELLUM_OK);
  EXPECT(info.rank == 2 && info.dims[1] == 2 && info.byte_size == 2 * sizeof places[0]);
  EXPECT(((const int64_t*)vellum_tensor_values(tensor))[1] == 3);

done:
  vellum_tensor_destroy(tensor);
  vellum_run_destroy(run);
  vellum_session_destroy(session);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  return line;
}

int submit_in_c(const void* model_bytes, size_t model_size, const float* input, size_t input_count,
                float* outputs, size_t output_count, char what[512]) {
  int line = 0;
  size_t i, logged = 0;
  int32_t done = 0;
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  vellum_model* model = NULL;
  vellum_session* session = NULL;
  vellum_run* runs[3] = {NULL, NULL, NULL};
  vellum_session_options options;
  vellum_input_values in = {"x", input, input_count * sizeof(float), NULL, 0};
  vellum_output_values out = {"y", outputs, output_count * sizeof(float)};
  vellum_memory_report memory = VELLUM_SIZED(vellum_memory_report);
  vellum_tune_options tune;
  vellum_tune_result tuned = VELLUM_SIZED(vellum_tune_result);
  vellum_session_creation* creation = NULL;
  vellum_session* other = NULL;
  size_t steps = 0, ready = 0, total = 0;

  EXPECT(open_checked(&device, &logged, &error) == VELLUM_OK);
  EXPECT(vellum_model_load_bytes(model_bytes, model_size, &model, &error) == VELLUM_OK);
  vellum_session_options_init(&options);
  EXPECT(options.in_flight == 1);
  vellum_tune_options_init(&tune);
  tune.storages = 0;
  tune.progress = count_steps;
  tune.progress_user = &steps;
  EXPECT(vellum_tune(device, model, &options, &tune, &tuned, &error) == VELLUM_OK);
  EXPECT(steps > 0 && tuned.complete && tuned.tuned_ms > 0 && tuned.untuned_ms > 0);
  options.in_flight = 2;
  EXPECT(vellum_session_create(device, model, &options, &session, &error) == VELLUM_OK);
  EXPECT(vellum_session_memory(session, &memory, &error) == VELLUM_OK && memory.in_flight == 2);
  for (i = 0; i < 3; ++i) {
    out.values = outputs + i * output_count;
    EXPECT(vellum_session_submit(session, &in, 1, &out, 1, &runs[i], &error) == VELLUM_OK);
  }
  while (!done) EXPECT(vellum_run_done(runs[1], &done, &error) == VELLUM_OK);
  for (i = 0; i < 3; ++i) {
    EXPECT(vellum_run_wait_for(runs[i], 60000, &done, &error) == VELLUM_OK && done);
    vellum_run_destroy(runs[i]);
    runs[i] = NULL;
  }
  out.values = outputs + 2 * output_count;
  for (i = 0; i < 2; ++i) {
    EXPECT(vellum_session_try_submit(session, &in, 1, i ? NULL : &out, i ? 0 : 1, &runs[i], &error) == VELLUM_OK);
    EXPECT(runs[i] != NULL);
  }
  EXPECT(vellum_run_cancel(runs[1], &error) == VELLUM_OK);
  FAILS(vellum_run_wait(runs[1], &error), VELLUM_CANCELLED, "cancelled");
  EXPECT(vellum_run_wait(runs[0], &error) == VELLUM_OK);
  vellum_run_destroy(runs[1]);
  EXPECT(vellum_session_submit(session, &in, 1, NULL, 0, &runs[1], &error) == VELLUM_OK);
  EXPECT(vellum_session_submit(session, &in, 1, NULL, 0, &runs[2], &error) == VELLUM_OK);
  vellum_session_destroy(session); /* its runs come home first */
  session = NULL;
  for (i = 0; i < 3; ++i) EXPECT(vellum_run_wait(runs[i], &error) == VELLUM_OK);
  EXPECT(vellum_run_done(runs[2], &done, &error) == VELLUM_OK && done);

  EXPECT(vellum_session_create_async(device, model, NULL, &creation, &error) == VELLUM_OK);
  do
    EXPECT(vellum_session_creation_wait_for(creation, 1000, &done, &error) == VELLUM_OK);
  while (!done);
  EXPECT(vellum_session_creation_progress(creation, &ready, &total, &error) == VELLUM_OK);
  EXPECT(ready > 0 && ready == total);
  EXPECT(vellum_session_creation_get(creation, &session, &error) == VELLUM_OK);
  FAILS(vellum_session_creation_get(creation, &other, &error), VELLUM_INVALID_ARGUMENT, "taken already");
  EXPECT(other == NULL);
  EXPECT(vellum_session_input_count(session) == 1);
  EXPECT(logged == 0);

done:
  vellum_session_creation_destroy(creation);
  for (i = 0; i < 3; ++i) vellum_run_destroy(runs[i]);
  vellum_session_destroy(session);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  return line;
}

int misuse_in_c(const void* model_bytes, size_t model_size, char what[512]) {
  int line = 0, destroyed = 0;
  static const float images[2 * 3 * 9 * 11] = {0};
  const int64_t batch[4] = {2, 3, 9, 11};
  float values[4] = {0}, outputs[2 * 4 * 5] = {0};
  const int64_t dims[2] = {1, 2};
  const vellum_input_shape shape = {"nobody", dims, 2};
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  vellum_model* model = NULL;
  vellum_session* session = NULL;
  vellum_device_options device_options;
  vellum_session_options options;
  vellum_tensor_info info = VELLUM_SIZED(vellum_tensor_info);
  vellum_object_report object = VELLUM_SIZED(vellum_object_report);
  vellum_memory_estimate estimate = VELLUM_SIZED(vellum_memory_estimate);
  vellum_load_limits limits;
  vellum_run* run = NULL;
  vellum_device* other = NULL;
  const char* pass = "fold everything";
  const vellum_input_values in = {"x", values, sizeof values, NULL, 0};

  EXPECT(vellum_version() == VELLUM_VERSION);
  EXPECT(strcmp(vellum_status_text(VELLUM_CORRUPT_MODEL), "corrupt model") == 0);
  FAILS(vellum_model_load("no such file.onnx", &model, &error), VELLUM_NOT_FOUND, "no such file.onnx");
  FAILS(vellum_model_load_bytes("garbage", 7, &model, &error), VELLUM_CORRUPT_MODEL, "");
  EXPECT(model == NULL);
  vellum_load_limits_init(&limits);
  EXPECT(limits.nodes > 10000 && limits.nesting > 1);
  EXPECT(limits.links_within == NULL);
  limits.links_within = "no such folder";  /* of links, which this model has none of */
  limits.nodes = 2;
  FAILS(vellum_model_load_bytes_within(model_bytes, model_size, &limits, &model, &error), VELLUM_UNSUPPORTED,
        "4 nodes");
  EXPECT(model == NULL);
  memset(&limits, 0, sizeof limits);
  FAILS(vellum_model_load_within("x", &limits, &model, &error), VELLUM_INVALID_ARGUMENT, "size");
  EXPECT(vellum_model_load(NULL, &model, NULL) == VELLUM_INVALID_ARGUMENT);
  FAILS(vellum_model_load("x", NULL, &error), VELLUM_INVALID_ARGUMENT, "model");
  vellum_device_options_init(&device_options);
  device_options.device = "no such device";
  device_options.log_user = &destroyed;
  device_options.log_destroy = count_destroyed;
  FAILS(vellum_device_open(&device_options, &device, &error), VELLUM_NO_DEVICE, "no such device");
  EXPECT(destroyed == 1);
  memset(&device_options, 0, sizeof device_options);
  FAILS(vellum_device_open(&device_options, &device, &error), VELLUM_INVALID_ARGUMENT, "size");
  EXPECT(vellum_device_open(NULL, &device, &error) == VELLUM_OK);
  EXPECT(vellum_model_load_bytes(model_bytes, model_size, &model, &error) == VELLUM_OK);

  vellum_session_options_init(&options);
  options.strategy = "hopeful";
  FAILS(vellum_session_create(device, model, &options, &session, &error), VELLUM_INVALID_ARGUMENT, "hopeful");
  vellum_session_options_init(&options);
  options.input_shapes = &shape;
  options.input_shape_count = 1;
  FAILS(vellum_session_create(device, model, &options, &session, &error), VELLUM_INVALID_ARGUMENT, "nobody");
  vellum_session_options_init(&options);
  EXPECT(options.max_submit_ms == VELLUM_SUBMIT_MS_AUTO);
  options.disabled_passes = &pass;
  options.disabled_pass_count = 1;
  FAILS(vellum_session_create(device, model, &options, &session, &error), VELLUM_INVALID_ARGUMENT, "fold everything");
  memset(&info, 0, sizeof info);
  FAILS(vellum_model_input(model, 0, &info, &error), VELLUM_INVALID_ARGUMENT, "size is not set");
  info.size = sizeof info;
  FAILS(vellum_model_output(model, 7, &info, &error), VELLUM_INVALID_ARGUMENT, "output 7");
  FAILS(vellum_write_bundle("no such model", "x", NULL, NULL, NULL, NULL, &error), VELLUM_NOT_FOUND, "no such model");
  FAILS(vellum_write_bundle("x", "no such folder/x", NULL, NULL, NULL, NULL, &error), VELLUM_IO, "no such folder");
  device_options.size = sizeof device_options;
  device_options.global_priority = (vellum_global_priority)9;
  FAILS(vellum_device_open(&device_options, &other, &error), VELLUM_INVALID_ARGUMENT, "global_priority");
  device_options.global_priority = VELLUM_PRIORITY_UNSPECIFIED;
  device_options.self_check = (vellum_self_check)9;
  FAILS(vellum_device_open(&device_options, &other, &error), VELLUM_INVALID_ARGUMENT, "self_check");
  device_options.self_check = VELLUM_SELF_CHECK_AUTO;
  vellum_session_options_init(&options);
  options.storage = (vellum_storage)17;
  FAILS(vellum_session_create(device, model, &options, &session, &error), VELLUM_INVALID_ARGUMENT, "17");
  vellum_session_options_init(&options);
  EXPECT(options.arithmetic == VELLUM_ARITHMETIC_FP32);
  options.arithmetic = VELLUM_ARITHMETIC_FP16;
  FAILS(vellum_session_create(device, model, &options, &session, &error), VELLUM_INVALID_ARGUMENT,
        "precision fp16");
  FAILS(vellum_session_create(NULL, model, NULL, &session, &error), VELLUM_INVALID_ARGUMENT, "device");
  EXPECT(session == NULL);
  EXPECT(vellum_session_create(device, model, NULL, &session, &error) == VELLUM_OK);

  FAILS(vellum_estimate_memory(model, NULL, NULL, "no caps", &estimate, &error), VELLUM_INVALID_ARGUMENT,
        "caps");
  FAILS(vellum_estimate_memory(model, NULL, device, NULL, NULL, &error), VELLUM_INVALID_ARGUMENT, "estimate");
  FAILS(vellum_tune(device, NULL, NULL, NULL, NULL, &error), VELLUM_INVALID_ARGUMENT, "model");
  FAILS(vellum_forget_tuning(NULL, &error), VELLUM_INVALID_ARGUMENT, "device");

  FAILS(vellum_session_run(session, &error), VELLUM_INVALID_ARGUMENT, "'x'");
  FAILS(vellum_session_set_input(session, "z", values, sizeof values, &error), VELLUM_NOT_FOUND, "'x'");
  FAILS(vellum_session_set_input(session, "x", values, 3, &error), VELLUM_INVALID_ARGUMENT, "3 were given");
  FAILS(vellum_session_get_output(session, "z", values, 4, &error), VELLUM_NOT_FOUND, "'y'");
  FAILS(vellum_session_get_output(session, "y", values, 3, &error), VELLUM_INVALID_ARGUMENT, "3 were given");
  FAILS(vellum_session_get_output(session, "y", outputs, sizeof outputs, &error), VELLUM_INVALID_ARGUMENT, "no run()");
  FAILS(vellum_session_input(session, 1, &info, &error), VELLUM_INVALID_ARGUMENT, "input 1");
  FAILS(vellum_session_object(session, 1000, &object, &error), VELLUM_INVALID_ARGUMENT, "1000");
  FAILS(vellum_session_run(NULL, &error), VELLUM_INVALID_ARGUMENT, "session");

  FAILS(vellum_session_submit(session, NULL, 0, NULL, 0, &run, &error), VELLUM_INVALID_ARGUMENT, "'x'");
  FAILS(vellum_session_submit(session, &in, 1, NULL, 1, &run, &error), VELLUM_INVALID_ARGUMENT, "outputs");
  FAILS(vellum_session_submit(session, &in, 1, NULL, 0, NULL, &error), VELLUM_INVALID_ARGUMENT, "run");
  FAILS(vellum_session_submit(session, &in, 1, NULL, 0, &run, &error), VELLUM_INVALID_ARGUMENT,
        "16 were given");
  EXPECT(run == NULL);
  FAILS(vellum_run_wait(run, &error), VELLUM_INVALID_ARGUMENT, "run");
  vellum_run_destroy(NULL);

  /* A batch of two in place of one. */
  FAILS(vellum_session_set_input_shaped(session, "x", dims, 2, values, 8, &error), VELLUM_INVALID_ARGUMENT,
        "1x2");
  FAILS(vellum_session_set_input_shaped(session, "x", batch, 4, values, 4, &error), VELLUM_INVALID_ARGUMENT,
        "4 were given");
  EXPECT(vellum_session_set_input_shaped(session, "x", batch, 4, images, sizeof images, &error) == VELLUM_OK);
  EXPECT(vellum_session_run(session, &error) == VELLUM_OK);
  EXPECT(vellum_session_output(session, 0, &info, &error) == VELLUM_OK);
  EXPECT(info.rank == 4 && info.dims[0] == 2);
  EXPECT(vellum_session_object(session, 0, &object, &error) == VELLUM_OK);
  FAILS(vellum_session_prepare(session, &shape, 1, &error), VELLUM_INVALID_ARGUMENT, "nobody");

done:
  vellum_session_destroy(session);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  vellum_session_destroy(NULL);
  return line;
}
