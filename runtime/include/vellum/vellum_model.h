/*
 * Models: loading them, their inputs, outputs and nodes. A part of vellum/vellum.h.
 */
#ifndef VELLUM_MODEL_H
#define VELLUM_MODEL_H

#include "vellum/vellum_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vellum_model vellum_model;

/* Reads an ONNX model, a TFLite model or a bundle (`vellum bundle`), recognised by its content. */
VELLUM_C_API vellum_status vellum_model_load(const char* file, vellum_model** model, vellum_error* error);
/* Reads a model from memory; the bytes may be freed afterwards. */
VELLUM_C_API vellum_status vellum_model_load_bytes(const void* bytes, size_t byte_count, vellum_model** model,
                                                   vellum_error* error);

/* Limits on what a file may ask of the machine, see vellum/limits.hpp. Fill it with vellum_load_limits_init(). */
typedef struct vellum_load_limits {
  size_t size;           /* of this struct, as the caller was compiled */
  uint64_t nodes;        /* nodes of all graphs of the file */
  uint64_t elements;     /* elements of one tensor */
  uint64_t folded_bytes; /* bytes of constants that are computed while loading, and of tensors in a run */
  uint64_t folded_work;  /* elementary operations on constants */
  uint32_t nesting;      /* of graphs */
  uint32_t trusts_shaders; /* 1: the app knows the bundle's origin, so its SPIR-V is not validated */
  const char* links_within; /* NULL, or a folder: external data may be symbolic links to files below it; see vellum/limits.hpp */
} vellum_load_limits;

/* Fills in the defaults, which the two functions above use. */
VELLUM_C_API void vellum_load_limits_init_sized(vellum_load_limits* limits, size_t size);
VELLUM_C_API void vellum_load_limits_init(vellum_load_limits* limits);
#define vellum_load_limits_init(limits) vellum_load_limits_init_sized((limits), sizeof(vellum_load_limits))
/* Read a model as the functions above do, with other limits. A model that exceeds them is refused. */
VELLUM_C_API vellum_status vellum_model_load_within(const char* file, const vellum_load_limits* limits,
                                                    vellum_model** model, vellum_error* error);
VELLUM_C_API vellum_status vellum_model_load_bytes_within(const void* bytes, size_t byte_count,
                                                          const vellum_load_limits* limits, vellum_model** model,
                                                          vellum_error* error);
/*
 * Read one signature of a TFLite model. VELLUM_NOT_FOUND, which lists the signatures, for an unknown name. NULL: the
 * signature that the functions above read, which is "serving_default" or, if there is none, the file's first. `limits`
 * may be NULL.
 */
VELLUM_C_API vellum_status vellum_model_load_signature(const char* file, const vellum_load_limits* limits,
                                                       const char* signature, vellum_model** model, vellum_error* error);
VELLUM_C_API vellum_status vellum_model_load_bytes_signature(const void* bytes, size_t byte_count,
                                                             const vellum_load_limits* limits, const char* signature,
                                                             vellum_model** model, vellum_error* error);
/* Called once, on any thread, when the library no longer needs memory that the application lent to it. */
typedef void (*vellum_release_callback)(void* user);
/*
 * Reads a model from memory. A bundle that begins at a multiple of 8 bytes is not copied. The bytes must not change
 * until `release` is called. It is called once, also if the function fails, when neither the model nor its sessions need
 * the bytes any more; for files that are copied, before the function returns. `limits` and `release` may be NULL.
 */
VELLUM_C_API vellum_status vellum_model_load_borrowed(const void* bytes, size_t byte_count,
                                                      const vellum_load_limits* limits, vellum_release_callback release,
                                                      void* release_user, vellum_model** model, vellum_error* error);
VELLUM_C_API void vellum_model_destroy(vellum_model* model);

typedef enum vellum_dtype {
  VELLUM_F32 = 0,
  VELLUM_F16 = 1,
  VELLUM_F64 = 2,
  VELLUM_I64 = 3,
  VELLUM_I32 = 4,
  VELLUM_I16 = 5,
  VELLUM_I8 = 6,
  VELLUM_U64 = 7,
  VELLUM_U32 = 8,
  VELLUM_U16 = 9,
  VELLUM_U8 = 10,
  VELLUM_BOOL = 11 /* a byte, 0 or 1 */
} vellum_dtype;

/*
 * An input or output. Its values are dense and row-major, in the model's own order of dimensions. Some outputs have a
 * data-dependent shape, e.g. how many boxes NonMaxSuppression keeps: get their info after each run.
 */
typedef struct vellum_tensor_info {
  size_t size;         /* of this struct, as the caller was compiled */
  const char* name;    /* valid as long as the model; of a session until its next run or vellum_session_prepare() */
  const int64_t* dims; /* outermost first; -1: open or not yet known; valid as long as `name` */
  size_t rank;
  vellum_dtype dtype;
  size_t byte_size; /* bytes of all values; 0 while a dimension is open */
  int32_t decides_shapes; /* for inputs: 1 if shapes depend on its values, such as the sizes of a Resize; a session is
                             prepared for these values as it is for the shapes of inputs */
  const char* signature_name; /* the name in the signature of a TFLite file, such as "output_0", which functions accept
                                 as well as `name`; empty without a signature; valid as long as `name` */
  const void* initial_value; /* for an input that is a variable of the network: its initial value of byte_size bytes, valid
                                as long as `name`; the output "NAME.next" is its value for the next run. Else NULL */
} vellum_tensor_info;

/* The shape of an input: for dimensions that the model leaves open, or to override its shape. */
typedef struct vellum_input_shape {
  const char* name;
  const int64_t* dims; /* outermost first */
  size_t rank;
} vellum_input_shape;

/* Values of an input that decides shapes, dense and row-major. */
typedef struct vellum_shape_values {
  const char* name;
  vellum_dtype dtype;
  const int64_t* dims; /* outermost first */
  size_t rank;
  const void* values;
  size_t byte_count;
} vellum_shape_values;

/* The model's inputs and outputs; a dimension that is open, or known only after a run, is -1. */
VELLUM_C_API size_t vellum_model_input_count(const vellum_model* model);
VELLUM_C_API size_t vellum_model_output_count(const vellum_model* model);
VELLUM_C_API vellum_status vellum_model_input(const vellum_model* model, size_t index, vellum_tensor_info* info,
                                              vellum_error* error);
VELLUM_C_API vellum_status vellum_model_output(const vellum_model* model, size_t index, vellum_tensor_info* info,
                                               vellum_error* error);

/*
 * The names of a TFLite file's signatures. The first is the signature that was read. Returns NULL if `index` is out of
 * range. Valid as long as the model.
 */
VELLUM_C_API size_t vellum_model_signature_count(const vellum_model* model);
VELLUM_C_API const char* vellum_model_signature(const vellum_model* model, size_t index);

/* Convert values of VELLUM_F16 (IEEE 754 binary16) from and to floats; round to nearest even. */
VELLUM_C_API void vellum_halves_from_floats(const float* floats, size_t count, uint16_t* halves);
VELLUM_C_API void vellum_floats_from_halves(const uint16_t* halves, size_t count, float* floats);

/* A tensor in host memory that the library allocated. The caller destroys it. */
typedef struct vellum_tensor vellum_tensor;
VELLUM_C_API vellum_status vellum_tensor_get_info(const vellum_tensor* tensor, vellum_tensor_info* info,
                                                  vellum_error* error);
/* The values, vellum_tensor_info.byte_size bytes; valid as long as the tensor. */
VELLUM_C_API const void* vellum_tensor_values(const vellum_tensor* tensor);
VELLUM_C_API void vellum_tensor_destroy(vellum_tensor* tensor);

typedef struct vellum_shape {
  const int64_t* dims; /* outermost first; -1 for a dimension that is not known */
  size_t rank;
} vellum_shape;

/* A node of the model's file. Everything is valid as long as the list. */
typedef struct vellum_node_info {
  size_t size; /* of this struct, as the caller was compiled */
  const char* name;
  const char* op;
  const char* attributes;     /* as text */
  const char* const* inputs;  /* names of tensors */
  size_t input_count;
  const char* const* outputs;
  size_t output_count;
  const vellum_shape* output_shapes; /* output_count */
  uint64_t parameters;        /* elements of constant inputs */
  uint64_t macs;              /* multiply-accumulates; 0 if shapes are data-dependent */
} vellum_node_info;

/* The nodes in execution order, with shapes inferred for these input shapes. */
typedef struct vellum_node_list vellum_node_list;
VELLUM_C_API vellum_status vellum_node_list_create(const vellum_model* model, const vellum_input_shape* shapes,
                                                   size_t shape_count, vellum_node_list** list, vellum_error* error);
VELLUM_C_API void vellum_node_list_destroy(vellum_node_list* list);
VELLUM_C_API size_t vellum_node_list_count(const vellum_node_list* list);
VELLUM_C_API vellum_status vellum_node_list_get(const vellum_node_list* list, size_t index, vellum_node_info* info,
                                                vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_MODEL_H */
