/* What the library reports, in C: plans, pages, nodes, estimates, and outputs as tensors. */
#include <string.h>
#include <vellum/vellum.h>
#include <vellum/vellum_frame.h>

#include "c_checks.h"
#include "c_program.h"

static int32_t stop_at_once(void* user) {
  ++*(int*)user;
  return 1;
}

/* The text begins with `begin` and has `part`; destroys it. */
static int is_text(vellum_text* text, const char* begin, const char* part) {
  const char* data = vellum_text_data(text);
  const int is = strlen(data) == vellum_text_size(text) && strncmp(data, begin, strlen(begin)) == 0 &&
                 strstr(data, part) != NULL;
  vellum_text_destroy(text);
  return is;
}

int report_in_c(const void* model_bytes, size_t model_size, const char* file, const float* input, size_t input_count,
                char what[512]) {
  int line = 0;
  size_t i, nodes = 0;
  uint64_t macs = 0, arena_bytes = 0;
  int asked = 0;
  float values[64], kept[64];
  const float floats[3] = {1, -2.5f, 1e6f};
  uint16_t halves[3];
  double times[64];
  char uuid[37] = "", short_uuid[2] = {'x', 'y'};
  const int64_t positions[2] = {1, 2};
  const uint64_t bytes[2] = {100, 200};
  const vellum_memory_line curve = {"batches", positions, bytes, 2};
  const char* const subtitle[2] = {"a device", "<b>"};
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  vellum_model* model = NULL;
  vellum_session* session = NULL;
  vellum_run* run = NULL;
  vellum_tensor *tensor = NULL, *output = NULL;
  vellum_node_list* list = NULL;
  vellum_memory_plan *plan = NULL, *planned = NULL;
  vellum_text *text = NULL, *caps = NULL;
  vellum_memory_pool* pool = NULL;
  vellum_session* larger = NULL;
  const int64_t batch_dims[4] = {8, 3, 9, 11};
  const vellum_input_shape batch = {"x", batch_dims, 4};
  uint64_t pool_bytes = 1;
  vellum_device_info info = VELLUM_SIZED(vellum_device_info);
  vellum_node_info node = VELLUM_SIZED(vellum_node_info);
  vellum_tensor_info port = VELLUM_SIZED(vellum_tensor_info);
  vellum_session_options options;
  vellum_session_counts counts = VELLUM_SIZED(vellum_session_counts);
  vellum_memory_report memory = VELLUM_SIZED(vellum_memory_report), predicted = memory;
  vellum_object_report object = VELLUM_SIZED(vellum_object_report);
  vellum_tensor_report held = VELLUM_SIZED(vellum_tensor_report);
  vellum_layer_time layer = VELLUM_SIZED(vellum_layer_time);
  vellum_profile_options profile;
  vellum_memory_estimate estimate = VELLUM_SIZED(vellum_memory_estimate);
  vellum_memory_measurement measured = VELLUM_SIZED(vellum_memory_measurement);
  vellum_frame_input camera;
  const vellum_bundle_frame frames = {"x", &camera};
  vellum_bundle_summary plain = VELLUM_SIZED(vellum_bundle_summary), framed = plain;
  char bundle[1024];
  vellum_tune_options tune;
  vellum_tune_result tuned = VELLUM_SIZED(vellum_tune_result);
  const vellum_input_values in = {"x", input, input_count * sizeof(float), NULL, 0};

  EXPECT(vellum_device_open(NULL, &device, &error) == VELLUM_OK);
  EXPECT(vellum_device_get_info(device, &info, &error) == VELLUM_OK);
  EXPECT(info.max_image_dimension_2d >= 4096 && info.max_storage_buffer_range >= 1 << 27);
  EXPECT(info.preferred_storage[0] != 0 && info.cooperative_matrices[0] != 0);
  vellum_uuid_text(info.uuid, uuid);
  EXPECT(strlen(uuid) == 36 && uuid[8] == '-');
  vellum_uuid_text(NULL, short_uuid);
  EXPECT(short_uuid[0] == 0 && short_uuid[1] == 'y');
  EXPECT(vellum_device_caps(NULL, &text, &error) == VELLUM_OK && is_text(text, "{", "}"));
  EXPECT(vellum_device_caps(device, &caps, &error) == VELLUM_OK && vellum_text_size(caps) > 100);
  EXPECT(vellum_default_cache_folder(&text, &error) == VELLUM_OK && is_text(text, "", ""));
  EXPECT(vellum_graph_passes(&text, &error) == VELLUM_OK && is_text(text, "", "\n"));
  EXPECT(strcmp(vellum_text_data(NULL), "") == 0 && vellum_text_size(NULL) == 0);
  vellum_text_destroy(NULL);

  vellum_halves_from_floats(floats, 3, halves);
  EXPECT(halves[0] == 0x3c00 && halves[1] == 0xc100 && halves[2] == 0x7c00);
  vellum_floats_from_halves(halves, 2, values);
  EXPECT(values[0] == 1 && values[1] == -2.5f);

  EXPECT(vellum_model_load_bytes(model_bytes, model_size, &model, &error) == VELLUM_OK);
  EXPECT(vellum_node_list_create(model, NULL, 0, &list, &error) == VELLUM_OK);
  nodes = vellum_node_list_count(list);
  EXPECT(nodes == 4);
  for (i = 0; i < nodes; ++i) {
    EXPECT(vellum_node_list_get(list, i, &node, &error) == VELLUM_OK);
    EXPECT(node.op[0] != 0 && node.input_count > 0 && node.inputs[0][0] != 0);
    EXPECT(node.output_count > 0 && node.output_shapes[0].rank == 4 && node.output_shapes[0].dims[0] == 1);
    macs += node.macs;
  }
  EXPECT(macs > 0);
  FAILS(vellum_node_list_get(list, nodes, &node, &error), VELLUM_INVALID_ARGUMENT, "no node 4; there are 4");
  EXPECT(vellum_describe(model, "plan", NULL, device, NULL, &text, &error) == VELLUM_OK && is_text(text, "", "\n"));
  EXPECT(vellum_describe(model, "graph", NULL, NULL, vellum_text_data(caps), &text, &error) == VELLUM_OK);
  EXPECT(is_text(text, "", "x"));
  FAILS(vellum_describe(model, "hopes", NULL, NULL, NULL, &text, &error), VELLUM_INVALID_ARGUMENT, "hopes");
  EXPECT(text == NULL);

  vellum_session_options_init(&options);
  options.profile = 1;
  options.memory_budget = 1;
  FAILS(vellum_session_create(device, model, &options, &session, &error), VELLUM_OUT_OF_MEMORY, "smallest that suffices");
  options.memory_budget = 16 << 20;
  EXPECT(vellum_session_create(device, model, &options, &session, &error) == VELLUM_OK);
  FAILS(vellum_session_profile_html(session, NULL, &text, &error), VELLUM_INVALID_ARGUMENT, "before the first run");
  EXPECT(vellum_session_set_input(session, "x", input, input_count * sizeof(float), &error) == VELLUM_OK);
  EXPECT(vellum_session_run(session, &error) == VELLUM_OK);
  EXPECT(vellum_session_get_counts(session, &counts, &error) == VELLUM_OK);
  EXPECT(counts.dispatches > 0 && counts.pipelines > 0 && counts.pipelines <= counts.dispatches);

  EXPECT(vellum_session_output_tensor(session, "y", &tensor, &error) == VELLUM_OK);
  EXPECT(vellum_tensor_get_info(tensor, &port, &error) == VELLUM_OK && strcmp(port.name, "y") == 0);
  EXPECT(port.dtype == VELLUM_F32 && port.byte_size <= sizeof values);
  EXPECT(vellum_session_get_output(session, "y", values, port.byte_size, &error) == VELLUM_OK);
  EXPECT(memcmp(values, vellum_tensor_values(tensor), port.byte_size) == 0);
  FAILS(vellum_session_output_tensor(session, "z", &output, &error), VELLUM_NOT_FOUND, "z");

  EXPECT(vellum_session_memory(session, &memory, &error) == VELLUM_OK);
  EXPECT(strcmp(memory.mode, "shared-objects") == 0 && memory.strategy[0] != 0);
  EXPECT(memory.tensor_count >= memory.object_count && memory.arena_count > 0);
  EXPECT(memory.total_weights_bytes > 0 && memory.peak_weights_bytes >= memory.weights_bytes);
  EXPECT(memory.memory_budget == options.memory_budget && memory.budget_peak_bytes <= options.memory_budget);
  EXPECT(memory.budget_used_bytes == memory.weights_bytes + memory.allocated_bytes + memory.in_out_bytes);
  options.memory_budget = 0;
  for (i = 0; i < memory.arena_count; ++i) arena_bytes += memory.arenas[i];
  EXPECT(arena_bytes == memory.planned_bytes);
  EXPECT(vellum_memory_plan_of_session(session, &plan, &error) == VELLUM_OK);
  EXPECT(vellum_memory_plan_create(model, &options, device, NULL, &planned, &error) == VELLUM_OK);
  EXPECT(vellum_memory_plan_report(planned, &predicted, &error) == VELLUM_OK);
  EXPECT(predicted.planned_bytes == memory.planned_bytes && predicted.object_count == memory.object_count);
  EXPECT(predicted.in_out_bytes == 0 && predicted.weights_bytes == 0);
  for (i = 0; i < memory.tensor_count; ++i) {
    EXPECT(vellum_memory_plan_tensor(plan, i, &held, &error) == VELLUM_OK && held.name[0] != 0);
    EXPECT(held.first_task <= held.last_task && held.rank > 0 && held.object < memory.object_count);
    EXPECT(vellum_memory_plan_object(plan, held.object, &object, &error) == VELLUM_OK);
    EXPECT(held.offset + held.bytes <= object.bytes && object.arena < memory.arena_count);
    EXPECT(object.arena_offset + object.bytes <= memory.arenas[object.arena]);
  }
  FAILS(vellum_memory_plan_tensor(plan, memory.tensor_count, &held, &error), VELLUM_INVALID_ARGUMENT, "no tensor");
  EXPECT(vellum_memory_plan_svg(plan, "a <map>", &text, &error) == VELLUM_OK);
  EXPECT(is_text(text, "<svg", "a &lt;map"));
  FAILS(vellum_memory_plan_svg(plan, NULL, &text, &error), VELLUM_INVALID_ARGUMENT, "title");

  vellum_profile_options_init(&profile);
  EXPECT(vellum_session_layer_count(session) == counts.dispatches && counts.dispatches <= 64);
  EXPECT(vellum_session_layer(session, 0, &layer, &error) == VELLUM_OK && layer.workgroups[0] > 0);
  for (i = 0; i < counts.dispatches; ++i) times[i] = 0.25;
  profile.model = "mobile </script>";
  profile.subtitle = subtitle;
  profile.subtitle_count = 2;
  profile.layer_ms = times;
  profile.layer_ms_count = counts.dispatches;
  EXPECT(vellum_session_profile_html(session, &profile, &text, &error) == VELLUM_OK);
  EXPECT(is_text(text, "<!doctype html>", "mobile \\u003c/script\\u003e"));
  EXPECT(vellum_session_profile_html(session, &profile, &text, &error) == VELLUM_OK && is_text(text, "", "\"ms\":0.25"));
  EXPECT(vellum_session_profile_trace(session, NULL, &text, &error) == VELLUM_OK && is_text(text, "{", "traceEvents"));
  profile.layer_ms_count = 1000;
  FAILS(vellum_session_profile_html(session, &profile, &text, &error), VELLUM_INVALID_ARGUMENT, "1000 times");

  EXPECT(vellum_estimate_memory(model, &options, device, NULL, &estimate, &error) == VELLUM_OK);
  EXPECT(estimate.dispatches == counts.dispatches && estimate.allocated_weights > 0);
  EXPECT(estimate.allocated_intermediates == memory.allocated_bytes && estimate.allocated_in_out == memory.in_out_bytes);
  EXPECT(vellum_measure_memory(file, &options, NULL, &measured, &error) == VELLUM_OK);
  EXPECT(measured.weights > 0 && measured.total >= measured.weights + measured.in_out + measured.intermediates);
  EXPECT(measured.allocated_peak > 0); /* the process need not grow: what earlier calls freed may be taken again */
  EXPECT(estimate.total_least <= estimate.total && estimate.total <= estimate.total_most);
  FAILS(vellum_calibrate_memory(NULL, NULL, &error), VELLUM_INVALID_ARGUMENT, "used Vulkan");
  vellum_frame_input_init(&camera);
  camera.width = 33, camera.height = 27;
  snprintf(bundle, sizeof bundle, "%s.vlm", file);
  EXPECT(vellum_write_bundle(file, bundle, device, NULL, NULL, &plain, &error) == VELLUM_OK);
  EXPECT(vellum_write_bundle_with_frames(file, bundle, device, NULL, NULL, &frames, 1, &framed, &error) == VELLUM_OK);
  EXPECT(framed.shaders > plain.shaders && framed.weights == plain.weights);
  FAILS(vellum_write_bundle_with_frames(file, bundle, device, NULL, NULL, NULL, 1, NULL, &error),
        VELLUM_INVALID_ARGUMENT, "frames");
  EXPECT(vellum_memory_curve_svg("memory", "batch", &curve, 1, &text, &error) == VELLUM_OK);
  EXPECT(is_text(text, "<svg", "batches"));
  FAILS(vellum_memory_curve_svg("memory", "batch", NULL, 0, &text, &error), VELLUM_INVALID_ARGUMENT, "point");

  EXPECT(vellum_session_submit_and_keep(session, &in, 1, &run, &error) == VELLUM_OK);
  EXPECT(vellum_run_output(run, "y", &output, &error) == VELLUM_OK);
  memcpy(kept, vellum_tensor_values(output), port.byte_size);
  EXPECT(memcmp(kept, values, port.byte_size) == 0);
  vellum_run_destroy(run);
  run = NULL;
  EXPECT(vellum_session_try_submit_and_keep(session, &in, 1, &run, &error) == VELLUM_OK && run != NULL);
  vellum_run_destroy(run);
  run = NULL;
  FAILS(vellum_session_submit_and_keep(session, NULL, 0, &run, &error), VELLUM_INVALID_ARGUMENT, "'x'");
  EXPECT(vellum_session_submit(session, &in, 1, NULL, 0, &run, &error) == VELLUM_OK);
  vellum_tensor_destroy(output);
  FAILS(vellum_run_output(run, "y", &output, &error), VELLUM_NOT_FOUND, "keeps no output 'y'");

  vellum_session_destroy(session);
  session = NULL;
  EXPECT(vellum_session_create(device, model, &options, &session, &error) == VELLUM_OK);
  EXPECT(vellum_session_layer_count(session) == 0);
  vellum_run_destroy(run);
  EXPECT(vellum_session_submit(session, &in, 1, NULL, 0, &run, &error) == VELLUM_OK);
  EXPECT(vellum_run_wait(run, &error) == VELLUM_OK);
  EXPECT(vellum_session_layer_count(session) == counts.dispatches);
  EXPECT(vellum_session_layer(session, 0, &layer, &error) == VELLUM_OK && layer.op[0] != 0);

  vellum_tune_options_init(&tune);
  EXPECT(tune.storages == 1);
  tune.should_stop = stop_at_once;
  tune.should_stop_user = &asked;
  FAILS(vellum_tune(device, model, NULL, &tune, &tuned, &error), VELLUM_CANCELLED, "should_stop");
  EXPECT(asked == 1);
  tune.should_stop = NULL;
  tune.storages = 0;
  EXPECT(vellum_tune(device, model, NULL, &tune, &tuned, &error) == VELLUM_OK);
  EXPECT(tuned.storage[0] != 0 && tuned.operator_count > 0 && tuned.measured_count > 0);
  EXPECT(tuned.measured_count <= tuned.operator_count);

  vellum_run_destroy(run);
  run = NULL;
  vellum_session_destroy(session);
  session = NULL;
  EXPECT(vellum_memory_pool_create(device, VELLUM_POOL_REFUSE, &pool, &error) == VELLUM_OK);
  EXPECT(vellum_memory_pool_bytes(pool, &pool_bytes, &error) == VELLUM_OK && pool_bytes == 0);
  options.memory_pool = pool;
  EXPECT(vellum_session_create(device, model, &options, &session, &error) == VELLUM_OK);
  EXPECT(vellum_session_set_input(session, "x", input, input_count * sizeof(float), &error) == VELLUM_OK);
  for (i = 0; i < 2; ++i) {
    EXPECT(vellum_session_run(session, &error) == VELLUM_OK);
    EXPECT(vellum_memory_pool_bytes(pool, &pool_bytes, &error) == VELLUM_OK);
    EXPECT(pool_bytes >= memory.planned_bytes);
    EXPECT(vellum_session_trim(session, i ? VELLUM_TRIM_WEIGHTS : VELLUM_TRIM_INTERMEDIATES, &error) == VELLUM_OK);
    EXPECT(vellum_session_get_output(session, "y", kept, port.byte_size, &error) == VELLUM_OK);
    EXPECT(memcmp(kept, values, port.byte_size) == 0);
  }
  /* Another session lets the pool grow: the figures of this one follow, its strings stay. */
  EXPECT(vellum_session_run(session, &error) == VELLUM_OK);
  EXPECT(vellum_session_memory(session, &memory, &error) == VELLUM_OK);
  EXPECT(vellum_memory_pool_bytes(pool, &pool_bytes, &error) == VELLUM_OK && memory.allocated_bytes == pool_bytes);
  EXPECT(vellum_session_object(session, 0, &object, &error) == VELLUM_OK);
  predicted = memory;
  options.input_shapes = &batch;
  options.input_shape_count = 1;
  EXPECT(vellum_session_create(device, model, &options, &larger, &error) == VELLUM_OK);
  EXPECT(vellum_session_memory(session, &memory, &error) == VELLUM_OK);
  EXPECT(memory.allocated_bytes > predicted.allocated_bytes && memory.planned_bytes == predicted.planned_bytes);
  EXPECT(vellum_memory_pool_bytes(pool, &pool_bytes, &error) == VELLUM_OK && memory.allocated_bytes == pool_bytes);
  EXPECT(memory.strategy == predicted.strategy && memory.arenas == predicted.arenas);
  EXPECT(strcmp(object.kind, "buffer") == 0 || object.format[0] != 0);

  EXPECT(vellum_memory_pool_trim(pool, &error) == VELLUM_OK);
  EXPECT(vellum_memory_pool_bytes(pool, &pool_bytes, &error) == VELLUM_OK && pool_bytes == 0);
  FAILS(vellum_session_trim(session, (vellum_trim_level)2, &error), VELLUM_INVALID_ARGUMENT, "level has no value 2");

done:
  vellum_run_destroy(run);
  vellum_session_destroy(larger);
  vellum_memory_pool_destroy(pool);
  vellum_tensor_destroy(output);
  vellum_tensor_destroy(tensor);
  vellum_text_destroy(caps);
  vellum_memory_plan_destroy(plan);
  vellum_memory_plan_destroy(planned);
  vellum_node_list_destroy(list);
  vellum_session_destroy(session);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  return line;
}

/* A struct of another version of the header: shorter than today's, or longer. */
int sizes_in_c(char what[512]) {
  int line = 0;
  size_t i;
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  union {
    vellum_session_options options;
    unsigned char bytes[2 * sizeof(vellum_session_options)];
  } old, later;
  union {
    vellum_device_info info;
    unsigned char bytes[2 * sizeof(vellum_device_info)];
  } seen;

  memset(&old, 0xcd, sizeof old);
  vellum_session_options_init_sized(&old.options, offsetof(vellum_session_options, weights_budget));
  EXPECT(old.options.size == offsetof(vellum_session_options, weights_budget) && old.options.reorder == 1);
  for (i = old.options.size; i < sizeof old; ++i) EXPECT(old.bytes[i] == 0xcd);
  memset(&later, 0xcd, sizeof later);
  vellum_session_options_init_sized(&later.options, sizeof later);
  EXPECT(later.options.size == sizeof later.options && later.options.in_flight == 1);

  EXPECT(vellum_device_open(NULL, &device, &error) == VELLUM_OK);
  memset(&seen, 0xcd, sizeof seen);
  seen.info.size = offsetof(vellum_device_info, luid_known);
  EXPECT(vellum_device_get_info(device, &seen.info, &error) == VELLUM_OK);
  EXPECT(seen.info.size == offsetof(vellum_device_info, luid_known) && seen.info.name[0] != 0);
  for (i = seen.info.size; i < sizeof seen; ++i) EXPECT(seen.bytes[i] == 0xcd);
  seen.info.size = sizeof seen;
  EXPECT(vellum_device_get_info(device, &seen.info, &error) == VELLUM_OK);
  EXPECT(seen.info.size == sizeof seen.info); /* a caller of a later version sees which members are filled */

done:
  vellum_device_destroy(device);
  return line;
}
