/*
 * Common parts of the C interface: its version, errors, and text that the library allocates.
 */
#ifndef VELLUM_BASE_H
#define VELLUM_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "vellum/export.h"

/* The attribute also exports these functions from a shared library that links the static one, e.g. for JNI or P/Invoke. */
#if defined(__GNUC__) && !defined(_WIN32)
#define VELLUM_C_API __attribute__((visibility("default")))
#else
#define VELLUM_C_API VELLUM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header: 10000 * major + 100 * minor + patch. */
#define VELLUM_VERSION 200

/* The version of the linked library, in the same form. */
VELLUM_C_API uint32_t vellum_version(void);

typedef enum vellum_status {
  VELLUM_OK = 0,
  VELLUM_INVALID_ARGUMENT = 1, /* an argument is invalid: wrong size, unknown option, NULL */
  VELLUM_NOT_FOUND = 2,        /* a file, device, input or output does not exist */
  VELLUM_IO = 3,               /* reading or writing failed */
  VELLUM_CORRUPT_MODEL = 4,    /* the model file is truncated or contradicts itself */
  VELLUM_UNSUPPORTED = 5,      /* a valid model or option that Vellum cannot run */
  VELLUM_NO_DEVICE = 6,        /* no Vulkan loader, driver or usable device */
  VELLUM_OUT_OF_MEMORY = 7,    /* of the host or the device */
  VELLUM_DEVICE_LOST = 8,      /* the device stopped answering */
  VELLUM_INTERNAL = 9,         /* a bug in Vellum */
  VELLUM_CANCELLED = 10        /* the caller cancelled, or one of its callbacks did */
} vellum_status;

#define VELLUM_MESSAGE_BYTES 512

/* The error of a function that failed. Not changed on success. */
typedef struct vellum_error {
  vellum_status status;
  char message[VELLUM_MESSAGE_BYTES]; /* one line that names file, operator or tensor; cut off if it is longer */
} vellum_error;

/* Returns a status as text: "corrupt model". */
VELLUM_C_API const char* vellum_status_text(vellum_status status);

/*
 * A struct of this interface with its `size` set and everything else 0, for results:
 *     vellum_tensor_info info = VELLUM_SIZED(vellum_tensor_info);
 * Compiles without warnings as C99, C11 and C++. In C it is not a constant expression: not for static
 * variables.
 */
#ifdef __cplusplus
#define VELLUM_SIZED(type) vellum_sized<type>()
#else
#define VELLUM_SIZED(type) ((type){.size = sizeof(type)})
#endif

/* Text that the library allocated: UTF-8, ended by a zero. The caller destroys it. */
typedef struct vellum_text vellum_text;
VELLUM_C_API const char* vellum_text_data(const vellum_text* text);
/* Bytes, without the zero at the end. */
VELLUM_C_API size_t vellum_text_size(const vellum_text* text);
VELLUM_C_API void vellum_text_destroy(vellum_text* text);

#ifdef __cplusplus
} /* extern "C" */

/* For VELLUM_SIZED. */
template <typename Struct>
Struct vellum_sized() {
  Struct made = Struct();
  made.size = sizeof made;
  return made;
}
#endif

#endif /* VELLUM_BASE_H */
