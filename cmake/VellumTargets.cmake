# Warnings that every Vellum target compiles with.
function(vellum_warnings target)
  if(MSVC)
    target_compile_options(${target} PRIVATE /W4)
  else()
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                           -Wno-missing-field-initializers
                           $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  endif()
endfunction()

# Sanitizers for everything built from here on: -DVELLUM_SANITIZE=address,undefined or thread.
set(VELLUM_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize=; empty for none")
if(VELLUM_SANITIZE)
  add_compile_options(-fsanitize=${VELLUM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${VELLUM_SANITIZE})
endif()
