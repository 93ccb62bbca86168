/*
 * A program of the release before: compiled against tests/abi/previous, it runs with today's library. Compiled against today's
 * headers, it must print the same. Prints the library's version and the bytes of each output.
 *   old_program MODEL
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vellum/vellum.h>
#include <vellum/vellum_frame.h>

/* A library that takes a struct for a longer one writes over what follows it. */
enum { GUARD = 256 };
#define GUARDED(type, name) \
  struct {                  \
    type value;             \
    unsigned char guard[GUARD]; \
  } name

static void fail(const char* what, const char* message) {
  fprintf(stderr, "%s: %s\n", what, message);
  exit(1);
}

static void check_guard(const unsigned char* guard, const char* what) {
  int i;
  for (i = 0; i < GUARD; ++i)
    if (guard[i] != 0x5a) fail(what, "the library wrote behind the struct");
}

#define FILL(name) memset(&(name), 0x5a, sizeof(name))
#define CHECK_GUARD(name) check_guard((name).guard, #name)
#define CALL(call) \
  if ((call) != VELLUM_OK) fail(#call, error.message)

static void print_values(const char* name, const unsigned char* bytes, size_t count) {
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  size_t i;
  for (i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  printf("%s: %u bytes, %08x%08x\n", name, (unsigned)count, (unsigned)(hash >> 32), (unsigned)hash);
}

static void run(vellum_session* session) {
  vellum_error error;
  size_t i, k;
  GUARDED(vellum_tensor_info, info);
  for (i = 0; i < vellum_session_input_count(session); ++i) {
    unsigned char* bytes;
    float value;
    FILL(info);
    info.value.size = sizeof info.value;
    CALL(vellum_session_input(session, i, &info.value, &error));
    CHECK_GUARD(info);
    bytes = malloc(info.value.byte_size);
    for (k = 0; k + sizeof value <= info.value.byte_size; k += sizeof value) {
      value = (float)(k % 97) / 97;
      memcpy(bytes + k, &value, sizeof value);
    }
    CALL(vellum_session_set_input(session, info.value.name, bytes, info.value.byte_size, &error));
    free(bytes);
  }
  CALL(vellum_session_run(session, &error));
  for (i = 0; i < vellum_session_output_count(session); ++i) {
    unsigned char* bytes;
    FILL(info);
    info.value.size = sizeof info.value;
    CALL(vellum_session_output(session, i, &info.value, &error));
    bytes = malloc(info.value.byte_size);
    CALL(vellum_session_get_output(session, info.value.name, bytes, info.value.byte_size, &error));
    print_values(info.value.name, bytes, info.value.byte_size);
    free(bytes);
  }
}

static void report(const vellum_device* device, const vellum_model* model, const vellum_session* session) {
  vellum_error error;
  size_t i;
  GUARDED(vellum_device_info, info);
  GUARDED(vellum_memory_report, memory);
  GUARDED(vellum_object_report, object);
  GUARDED(vellum_layer_time, layer);
  GUARDED(vellum_memory_estimate, estimate);
  FILL(info), FILL(memory), FILL(object), FILL(layer), FILL(estimate);
  info.value.size = sizeof info.value, memory.value.size = sizeof memory.value, object.value.size = sizeof object.value;
  layer.value.size = sizeof layer.value, estimate.value.size = sizeof estimate.value;
  CALL(vellum_device_get_info(device, &info.value, &error));
  CALL(vellum_session_memory(session, &memory.value, &error));
  for (i = 0; i < memory.value.object_count; ++i) CALL(vellum_session_object(session, i, &object.value, &error));
  for (i = 0; i < vellum_session_layer_count(session); ++i) CALL(vellum_session_layer(session, i, &layer.value, &error));
  CALL(vellum_estimate_memory(model, NULL, device, NULL, &estimate.value, &error));
  CHECK_GUARD(info), CHECK_GUARD(memory), CHECK_GUARD(object), CHECK_GUARD(layer), CHECK_GUARD(estimate);
  printf("%s, %u objects of %u bytes, %u layers\n", info.value.name, (unsigned)memory.value.object_count,
         (unsigned)memory.value.planned_bytes, (unsigned)vellum_session_layer_count(session));
}

int main(int count, char** arguments) {
  vellum_error error;
  vellum_device* device = NULL;
  vellum_model* model = NULL;
  vellum_session* session = NULL;
  GUARDED(vellum_device_options, device_options);
  GUARDED(vellum_session_options, options);
  GUARDED(vellum_load_limits, limits);
  GUARDED(vellum_tune_options, tune);
  GUARDED(vellum_frame_input, frame);
  if (count != 2) fail(arguments[0], "wants a model");
  FILL(device_options), FILL(options), FILL(limits), FILL(tune), FILL(frame);
  vellum_device_options_init(&device_options.value);
  vellum_session_options_init(&options.value);
  vellum_load_limits_init(&limits.value);
  vellum_tune_options_init(&tune.value);
  vellum_frame_input_init(&frame.value);
  CHECK_GUARD(device_options), CHECK_GUARD(options), CHECK_GUARD(limits), CHECK_GUARD(tune), CHECK_GUARD(frame);
  options.value.profile = 1;

  printf("version %u\n", (unsigned)vellum_version());
  CALL(vellum_device_open(&device_options.value, &device, &error));
  CALL(vellum_model_load_within(arguments[1], &limits.value, &model, &error));
  CALL(vellum_session_create(device, model, &options.value, &session, &error));
  run(session);
  report(device, model, session);
  vellum_session_destroy(session);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  return 0;
}
