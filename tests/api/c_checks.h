/* Checks in C: each leaves the function with `line` set and `what` filled, at its label `done`. */
#ifndef VELLUM_TESTS_API_C_CHECKS_H
#define VELLUM_TESTS_API_C_CHECKS_H

#include <stdio.h>
#include <string.h>

#define EXPECT(condition)                                       \
  do {                                                          \
    if (!(condition)) {                                         \
      snprintf(what, 512, "%s; %s", #condition, error.message); \
      line = __LINE__;                                          \
      goto done;                                                \
    }                                                           \
  } while (0)
#define FAILS(call, code, part) \
  EXPECT((call) == (code) && error.status == (code) && strstr(error.message, part) != NULL)

#endif
