/*
 * Static quantisation to an ONNX file with integers: the C interface of vellum/quantize.hpp, which defines the terms. A part of
 * vellum/vellum.h.
 */
#ifndef VELLUM_QUANTIZE_H
#define VELLUM_QUANTIZE_H

#include "vellum/vellum_device.h"
#include "vellum/vellum_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the range of a tensor follows from the values that it had in the examples. */
typedef enum vellum_quantize_ranges {
  VELLUM_RANGES_MINMAX = 0,     /* all values */
  VELLUM_RANGES_PERCENTILE = 1, /* all but the smallest and the largest, vellum_quantize_options.percentile */
  VELLUM_RANGES_ENTROPY = 2,    /* the range whose integers lose the least information (Kullback-Leibler divergence) */
  VELLUM_RANGES_MSE = 3         /* the range with the least mean squared error */
} vellum_quantize_ranges;

/* Fill it with vellum_quantize_options_init(), then change what should differ. */
typedef struct vellum_quantize_options {
  size_t size;                   /* of this struct, as the caller was compiled */
  vellum_quantize_ranges ranges; /* how ranges of tensors follow from their values */
  double percentile;             /* percent of the values within the range, with VELLUM_RANGES_PERCENTILE */
  int32_t signed_activations;    /* not 0: int8 in place of uint8 */
  int32_t equalize;              /* not 0: scale the channels of consecutive layers to equal ranges */
  int32_t correct_biases;        /* 0: do not remove the mean error of each channel */
  uint32_t weight_only_bits;     /* 8 or 4: only weights are quantised, without examples; 0: activations too */
  /* The largest error of an output, as a fraction of its root mean square. The layers with the greatest errors stay in floating
   * point until it is met. 0: all layers are quantised. */
  double max_drop;
  const vellum_input_shape* input_shapes; /* for open dimensions */
  size_t input_shape_count;
  /* NULL, or called with the name of a stage, and with the finished and total number of its steps. */
  void (*progress)(const char* stage, size_t done, size_t total, void* user);
  void* progress_user;
  /* NULL, or called at each step, even if `progress` is NULL. Anything but 0 ends vellum_quantize() with VELLUM_CANCELLED. */
  int32_t (*should_stop)(void* user);
  void* should_stop_user;
} vellum_quantize_options;

VELLUM_C_API void vellum_quantize_options_init_sized(vellum_quantize_options* options, size_t size);
#define vellum_quantize_options_init(options) \
  vellum_quantize_options_init_sized((options), sizeof(vellum_quantize_options))

/*
 * Sets `inputs` to the inputs of example `index`, of which there are `input_count`. They are read before the next call. Returns
 * 0; anything else ends vellum_quantize() with VELLUM_CANCELLED.
 */
typedef int32_t (*vellum_quantize_example)(size_t index, const vellum_shape_values** inputs, size_t* input_count,
                                           void* user);

/* An ONNX file with integers, and what they cost. The caller destroys it. */
typedef struct vellum_quantized_model vellum_quantized_model;

/* A layer of the model; everything is valid as long as the quantised model. */
typedef struct vellum_quantized_layer {
  size_t size; /* of this struct, as the caller was compiled */
  const char* name;
  const char* op;
  int32_t in_integers; /* 0: the layer stayed in floating point */
  float low, high;     /* the range of its first input */
  double own_ratio;    /* signal to noise of its output in decibels, if only this layer is quantised; infinity without noise */
  double network_ratio; /* the same in the whole quantised network */
} vellum_quantized_layer;

typedef struct vellum_quantized_output {
  size_t size; /* of this struct, as the caller was compiled */
  const char* name;
  double ratio; /* signal to noise in decibels */
  double error; /* the noise as a fraction of the root mean square */
} vellum_quantized_output;

/*
 * Quantises a model. The device runs it on all `examples`, whose inputs the function `example` gives, several times: to find
 * ranges, and to measure errors. Without examples `example` may be NULL, if only weights are quantised. `options` may be NULL.
 */
VELLUM_C_API vellum_status vellum_quantize(const vellum_device* device, const vellum_model* model, size_t examples,
                                           vellum_quantize_example example, void* example_user,
                                           const vellum_quantize_options* options, vellum_quantized_model** quantized,
                                           vellum_error* error);
VELLUM_C_API void vellum_quantized_model_destroy(vellum_quantized_model* quantized);

/* The bytes of the ONNX file; valid as long as the quantised model. */
VELLUM_C_API const void* vellum_quantized_model_bytes(const vellum_quantized_model* quantized, size_t* byte_count);
/* The layers in the order of execution, and the outputs, which are measured unless only weights are quantised. */
VELLUM_C_API size_t vellum_quantized_model_layer_count(const vellum_quantized_model* quantized);
VELLUM_C_API vellum_status vellum_quantized_model_layer(const vellum_quantized_model* quantized, size_t index,
                                                        vellum_quantized_layer* layer, vellum_error* error);
VELLUM_C_API size_t vellum_quantized_model_output_count(const vellum_quantized_model* quantized);
VELLUM_C_API vellum_status vellum_quantized_model_output(const vellum_quantized_model* quantized, size_t index,
                                                         vellum_quantized_output* output, vellum_error* error);
/* The report as an SVG picture: bars of the layers' signal to noise ratios. */
VELLUM_C_API vellum_status vellum_quantized_model_svg(const vellum_quantized_model* quantized, const char* title,
                                                      vellum_text** text, vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_QUANTIZE_H */
