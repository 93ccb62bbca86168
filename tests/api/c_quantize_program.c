/* Quantises a model, in C. */
#include <string.h>
#include <vellum/vellum.h>

#include "c_checks.h"
#include "c_program.h"

enum { ELEMENTS = 3 * 9 * 11 };

struct examples {
  float values[ELEMENTS];
  vellum_shape_values input;
  size_t calls, stages, stop_at;
};

static int32_t give_example(size_t index, const vellum_shape_values** inputs, size_t* input_count, void* user) {
  static const int64_t dims[4] = {1, 3, 9, 11};
  struct examples* examples = user;
  size_t i;
  for (i = 0; i < ELEMENTS; ++i) examples->values[i] = (float)((i * 7 + index * 5) % 17) / 8 - 1;
  examples->input.name = "x";
  examples->input.dtype = VELLUM_F32;
  examples->input.dims = dims;
  examples->input.rank = 4;
  examples->input.values = examples->values;
  examples->input.byte_count = sizeof examples->values;
  *inputs = &examples->input;
  *input_count = 1;
  ++examples->calls;
  return 0;
}

static int32_t refuse_example(size_t index, const vellum_shape_values** inputs, size_t* input_count, void* user) {
  (void)inputs, (void)input_count, (void)user;
  return index == 1;
}

static void count_stage(const char* stage, size_t done, size_t total, void* user) {
  struct examples* examples = user;
  if (stage[0] != 0 && done <= total) ++examples->stages;
}

static int32_t stop_late(void* user) {
  const struct examples* examples = user;
  return examples->stop_at > 0 && examples->stages >= examples->stop_at;
}

int quantize_in_c(const void* model_bytes, size_t model_size, char what[512]) {
  int line = 0;
  size_t bytes = 0, weight_bytes = 0;
  const void* file = NULL;
  struct examples examples;
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  vellum_model *model = NULL, *integers = NULL;
  vellum_quantized_model *quantized = NULL, *weights = NULL;
  vellum_text* text = NULL;
  vellum_quantize_options options;
  vellum_quantized_layer layer = VELLUM_SIZED(vellum_quantized_layer);
  vellum_quantized_output output = VELLUM_SIZED(vellum_quantized_output);

  memset(&examples, 0, sizeof examples);
  EXPECT(vellum_device_open(NULL, &device, &error) == VELLUM_OK);
  EXPECT(vellum_model_load_bytes(model_bytes, model_size, &model, &error) == VELLUM_OK);
  vellum_quantize_options_init(&options);
  EXPECT(options.size == sizeof options && options.ranges == VELLUM_RANGES_MSE && options.correct_biases);
  options.progress = count_stage, options.progress_user = &examples;
  options.should_stop = stop_late, options.should_stop_user = &examples;
  EXPECT(vellum_quantize(device, model, 3, give_example, &examples, &options, &quantized, &error) == VELLUM_OK);
  EXPECT(examples.calls >= 6 && examples.stages >= 4);
  file = vellum_quantized_model_bytes(quantized, &bytes);
  EXPECT(vellum_model_load_bytes(file, bytes, &integers, &error) == VELLUM_OK);
  EXPECT(vellum_quantized_model_layer_count(quantized) == 2 && vellum_quantized_model_output_count(quantized) == 1);
  EXPECT(vellum_quantized_model_layer(quantized, 0, &layer, &error) == VELLUM_OK);
  EXPECT(strcmp(layer.op, "Conv") == 0 && layer.name[0] != 0 && layer.in_integers == 1);
  EXPECT(layer.low < -0.9f && layer.high > 0.9f && layer.own_ratio > 20 && layer.network_ratio > 20);
  EXPECT(vellum_quantized_model_output(quantized, 0, &output, &error) == VELLUM_OK);
  EXPECT(strcmp(output.name, "y") == 0 && output.ratio > 20 && output.error > 0 && output.error < 0.1);
  EXPECT(vellum_quantized_model_svg(quantized, "a < b", &text, &error) == VELLUM_OK);
  EXPECT(strstr(vellum_text_data(text), "a &lt; b") != NULL);
  FAILS(vellum_quantized_model_layer(quantized, 2, &layer, &error), VELLUM_INVALID_ARGUMENT, "there is no layer 2");
  FAILS(vellum_quantized_model_output(quantized, 1, &output, &error), VELLUM_INVALID_ARGUMENT, "there is no output 1");
  vellum_quantized_model_destroy(quantized);

  options.max_drop = output.error / 1e6;
  options.signed_activations = 1;
  EXPECT(vellum_quantize(device, model, 3, give_example, &examples, &options, &quantized, &error) == VELLUM_OK);
  EXPECT(vellum_quantized_model_layer(quantized, 1, &layer, &error) == VELLUM_OK && layer.in_integers == 0);
  options.weight_only_bits = 4;
  EXPECT(vellum_quantize(device, model, 0, NULL, NULL, &options, &weights, &error) == VELLUM_OK);
  EXPECT(vellum_quantized_model_bytes(weights, &weight_bytes) != NULL && weight_bytes > 0);
  EXPECT(vellum_quantized_model_output_count(weights) == 0);
  vellum_quantized_model_destroy(weights);
  weights = NULL;

  options.weight_only_bits = 0;
  examples.stop_at = examples.stages + 2;
  FAILS(vellum_quantize(device, model, 3, give_example, &examples, &options, &weights, &error), VELLUM_CANCELLED,
        "should_stop");
  EXPECT(weights == NULL);
  FAILS(vellum_quantize(device, model, 3, refuse_example, NULL, NULL, &weights, &error), VELLUM_INVALID_ARGUMENT, "x");
  FAILS(vellum_quantize(device, model, 1, NULL, NULL, NULL, &weights, &error), VELLUM_INVALID_ARGUMENT,
        "example is NULL");
  FAILS(vellum_quantize(device, model, 0, NULL, NULL, NULL, &weights, &error), VELLUM_INVALID_ARGUMENT,
        "at least one example");
  FAILS(vellum_quantize(NULL, model, 0, NULL, NULL, NULL, &weights, &error), VELLUM_INVALID_ARGUMENT, "device is NULL");
  memset(&options.ranges, 0x7f, sizeof options.ranges);
  FAILS(vellum_quantize(device, model, 3, give_example, &examples, &options, &weights, &error), VELLUM_INVALID_ARGUMENT,
        "ranges has no value");

done:
  vellum_text_destroy(text);
  vellum_quantized_model_destroy(weights);
  vellum_quantized_model_destroy(quantized);
  vellum_model_destroy(integers);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  return line;
}
