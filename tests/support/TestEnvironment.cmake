# How the tests are registered with ctest, and what their processes find in the environment. `setup.sh tests` fetches
# what is named here; with another cache folder pass -DVELLUM_TEST_DATA=FOLDER.
#
#   vellum_add_test(NAME SOURCES file... [LIBRARIES target...] [LABEL label])
#       A GoogleTest program that needs no device; each of its cases is a ctest entry `NAME.Suite.Case`.
#   vellum_add_gpu_test(NAME SOURCES file... [LIBRARIES target...] [SHARDS n] [TIMEOUT seconds] [LABEL label] [AS_GPU]
#                       [IN_TURN] [MOLTENVK] [WORST_DEVICE] [QUICK] [OPTIMISED] [NIGHTLY run...])
#       A GoogleTest program that runs whole on each driver: ctest entries `NAME.lavapipe`, `NAME.swiftshader` and
#       `NAME.baseline2022` (with SHARDS, `NAME.lavapipe.0` and so on, each running a part of the cases), with AS_GPU
#       `NAME.as_gpu` besides, with MOLTENVK `NAME.moltenvk`. With IN_TURN there is neither `NAME.baseline2022` nor
#       `NAME.as_gpu`: the program itself takes these devices in turn on lavapipe. With -DVELLUM_TEST_GPU_ASSISTED=ON those
#       with AS_GPU come on SwiftShader once more, as `NAME.gpu_assisted` and `NAME.as_gpu_assisted`, where the validation
#       layer watches each access to a buffer: nothing is read or written outside of it. That takes ten times as long.
#       Lavapipe compiles without LLVM's optimisation, in 0.6 to 0.8 of the time, and for vectors and subgroups of four lanes
#       in place of eight, in 0.6 of that. With OPTIMISED it comes on lavapipe once more each night, as `NAME.optimised`, with
#       optimisation and the vectors of the CPU: as users have it.
#       With WORST_DEVICE it comes on lavapipe once more each night, as `NAME.worst_device`: on a device that uses all of the
#       freedom that the specification leaves (worst_device/).
#       The runs that NIGHTLY names (`swiftshader`, ...; `others`: all but lavapipe) get the label `nightly`: each commit leaves
#       them out. That is for tests of what the host computes and of how it calls Vulkan, which differs little between drivers.
#   vellum_add_gpu_run(NAME COMMAND target argument... EXPECT regex [TIMEOUT seconds] [LABEL label] [QUICK] [NIGHTLY run...])
#       Runs a program once on each driver, as a user would: entries `NAME.lavapipe` and `NAME.swiftshader`. Its output
#       must match the expression. @RUN@ in an argument becomes the driver's name.
#
# The target quick_tests builds what the tests with the label `cpu` or `quick` run, which is half of everything.
#
# Labels, for `ctest -L` and the tiers of run.sh: `cpu` (without LABEL) for tests that need no device; `gpu` and the name of the
# run (`lavapipe`, `swiftshader`, ...) for the others, with LABEL that besides. `quick` is the run on lavapipe of those marked
# QUICK; LABEL `conformance` marks ONNX's own tests, and whole models that are compared with other engines. `nightly` marks what
# tests/run.sh leaves to tests/nightly.sh.
#
# Environment of all tests:
#   VELLUM_TEST_DATA       folder with models/, photos/, references/ (see setup.sh)
#   VELLUM_TEST_SOURCE     the repository's tests/ folder
# and of the tests on a device:
#   VELLUM_TEST_DRIVER     lavapipe or swiftshader: what the only visible driver is
#   VELLUM_TEST_LIMITS     android_baseline_2022 in `NAME.baseline2022`: the test clamps the device's limits to it;
#                          as_gpu in `NAME.as_gpu`: lavapipe is given the kernels that a desktop GPU is given;
#                          in_turn: the test does all that (caps_to_test() in gpu_test.hpp);
#                          moltenvk in `NAME.moltenvk`: limits and kernels of caps/moltenvk_apple_m1.json, on a lavapipe that
#                          the loader takes for a portability driver;
#                          adreno, mali, powervr, v3d or xclipse, by hand: limits of such GPUs, and the kernels chosen for them;
#                          short_loops, by hand: loops end after 100 iterations, so that small tensors take the kernels of
#                          large ones, or the host
#   VELLUM_TEST_WORST_DEVICE  by hand, and in `NAME.worst_device`: what of the specification's freedom the device uses (worst_device/)
include_guard(GLOBAL)
include(GoogleTest)
find_package(GTest REQUIRED)
add_custom_target(quick_tests)

# GoogleTest's macros take long to optimise, and what they check is compiled elsewhere: a third of the compiler's time.
if(MSVC)
  set(vellum_test_options "")
else()
  set(vellum_test_options $<$<CONFIG:Release>:-O0>)
endif()
vellum_precompile(vellum_test_precompiled <gtest/gtest.h>)
target_compile_options(vellum_test_precompiled PRIVATE ${vellum_test_options})
target_link_libraries(vellum_test_precompiled PRIVATE GTest::gtest)

if(DEFINED ENV{VELLUM_CACHE} AND NOT "$ENV{VELLUM_CACHE}" STREQUAL "")
  set(vellum_default_test_data "$ENV{VELLUM_CACHE}")
elseif(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(vellum_default_test_data "$ENV{XDG_CACHE_HOME}/vellum")
else()
  set(vellum_default_test_data "$ENV{HOME}/.cache/vellum")
endif()
set(VELLUM_TEST_DATA "${vellum_default_test_data}" CACHE PATH "Folder that `setup.sh tests` fetched into")
option(VELLUM_TEST_SWIFTSHADER "Run the device tests on SwiftShader too" ON)
option(VELLUM_TEST_GPU_ASSISTED "Run the kernels' tests with GPU-assisted validation too" OFF)

# Mesa names the file after the CPU (lvp_icd.x86_64.json), newer versions without it (lvp_icd.json).
file(GLOB vellum_lavapipe_icds ${CMAKE_SYSROOT}/usr/share/vulkan/icd.d/lvp_icd*.json
     ${CMAKE_SYSROOT}/usr/local/share/vulkan/icd.d/lvp_icd*.json)
if(vellum_lavapipe_icds)
  list(GET vellum_lavapipe_icds 0 vellum_lavapipe_icd)
endif()
set(VELLUM_TEST_LAVAPIPE_ICD "${vellum_lavapipe_icd}" CACHE FILEPATH "Vulkan ICD file of Mesa's lavapipe")
set(VELLUM_TEST_SWIFTSHADER_ICD "${VELLUM_TEST_DATA}/swiftshader/vk_swiftshader_icd.json" CACHE FILEPATH
    "Vulkan ICD file of SwiftShader")

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH vellum_tests_folder)
set(vellum_test_environment "VELLUM_TEST_DATA=${VELLUM_TEST_DATA}" "VELLUM_TEST_SOURCE=${vellum_tests_folder}")

# How many times its limit a test may take: an emulator (cmake/toolchains) is slower, and tests/nightly.sh runs more in each test.
# CTest has no option for tests that have a limit.
set(vellum_test_patience 1)
if(DEFINED ENV{VELLUM_TEST_PATIENCE})
  set(vellum_test_patience $ENV{VELLUM_TEST_PATIENCE})
elseif(CMAKE_CROSSCOMPILING_EMULATOR)
  set(vellum_test_patience 4)
endif()

function(vellum_test_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "The test ${name} has no SOURCES.")
  endif()
  add_executable(${name} ${arg_SOURCES})
  vellum_configure(${name})
  vellum_use_precompiled(${name} vellum_test_precompiled)
  target_compile_options(${name} PRIVATE ${vellum_test_options})
  target_include_directories(${name} PRIVATE ${vellum_tests_folder})
  # A program with a main of its own never pulls gtest_main's out of the archive.
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest GTest::gtest_main)
endfunction()

# For tests that start programs of the build: VELLUM_TEST_EMULATOR is what has to stand before such a program in a command.
# Wine starts them by itself.
function(vellum_test_starts_programs name)
  set(emulator "")
  if(NOT WIN32)
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
  endif()
  target_compile_definitions(${name} PRIVATE VELLUM_TEST_EMULATOR="${emulator}")
endfunction()

function(vellum_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "SOURCES;LIBRARIES")
  if(NOT arg_LABEL)
    set(arg_LABEL cpu)
  endif()
  vellum_test_executable(${name} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
  if(arg_LABEL STREQUAL "cpu")
    add_dependencies(quick_tests ${name})
  endif()
  math(EXPR timeout "300 * ${vellum_test_patience}")
  # gtest_discover_tests cannot pass a property whose value is a list, hence one variable in each of these two.
  gtest_discover_tests(${name} TEST_PREFIX ${name}. NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${timeout} LABELS ${arg_LABEL} ENVIRONMENT "VELLUM_TEST_DATA=${VELLUM_TEST_DATA}"
                                  ENVIRONMENT_MODIFICATION "VELLUM_TEST_SOURCE=set:${vellum_tests_folder}")
endfunction()

# One process per driver rather than one per case: starting a driver and compiling the shaders costs more than most cases.
function(vellum_register_on_driver name run driver icd)
  cmake_parse_arguments(PARSE_ARGV 4 arg "OPTIMISED;QUICK" "SHARDS;TIMEOUT;EXPECT;LABEL" "ENVIRONMENT;COMMAND;NIGHTLY")
  set(labels gpu ${run} ${arg_LABEL})
  if(run IN_LIST arg_NIGHTLY OR ("others" IN_LIST arg_NIGHTLY AND NOT run STREQUAL "lavapipe"))
    list(APPEND labels nightly)
  endif()
  if(arg_QUICK AND run STREQUAL "lavapipe")
    list(APPEND labels quick)
    list(GET arg_COMMAND 0 program)
    if(TARGET ${program})
      add_dependencies(quick_tests ${program})
    endif()
  endif()
  # Implicit layers come from whatever else is installed; the tests see the driver and the layers they ask for.
  set(environment
      ${vellum_test_environment} "VELLUM_TEST_DRIVER=${driver}" "VK_ICD_FILENAMES=${icd}" "VK_DRIVER_FILES=${icd}"
      "VK_LOADER_LAYERS_DISABLE=~implicit~"
      "VK_LAYER_ENABLES=VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT"
      "MESA_SHADER_CACHE_DIR=${CMAKE_BINARY_DIR}/mesa_shader_cache" ${arg_ENVIRONMENT})
  if(NOT arg_OPTIMISED)
    list(APPEND environment GALLIVM_PERF=nopt LP_NATIVE_VECTOR_WIDTH=128)
  endif()
  math(EXPR arg_TIMEOUT "${vellum_test_patience} * ${arg_TIMEOUT}")
  math(EXPR last_shard "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last_shard})
    set(entry ${name}.${run})
    set(shard_environment "")
    if(arg_SHARDS GREATER 1)
      string(APPEND entry .${shard})
      set(shard_environment "GTEST_TOTAL_SHARDS=${arg_SHARDS}" "GTEST_SHARD_INDEX=${shard}")
    endif()
    string(REPLACE "@RUN@" "${run}" command "${arg_COMMAND}")
    add_test(NAME ${entry} COMMAND ${command})
    set_tests_properties(${entry} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${labels}"
                         ENVIRONMENT "${environment};${shard_environment}")
    if(arg_EXPECT)
      set_tests_properties(${entry} PROPERTIES PASS_REGULAR_EXPRESSION "${arg_EXPECT}")
    endif()
    # What is long enough to be in parts begins first, and tests without a device end the run, so that no core is idle then.
    if(arg_SHARDS GREATER 1)
      set_tests_properties(${entry} PROPERTIES COST 1000)
    else()
      set_tests_properties(${entry} PROPERTIES COST 100)
    endif()
    # Most of a run's time is lavapipe's compiler. Runs with other limits find many of their pipelines in its cache afterwards.
    if(driver STREQUAL "lavapipe" AND NOT run STREQUAL "lavapipe")
      string(REPLACE "${name}.${run}" "${name}.lavapipe" first ${entry})
      set_tests_properties(${entry} PROPERTIES DEPENDS ${first})
    endif()
  endforeach()
endfunction()

# Writes an ICD file of lavapipe as of a driver that follows the portability subset alone, as MoltenVK does: the loader hides
# it from instances that do not ask for such drivers. Sets RESULT to the file's path.
function(vellum_portability_icd result)
  file(READ "${VELLUM_TEST_LAVAPIPE_ICD}" icd)
  string(JSON icd SET "${icd}" ICD is_portability_driver true)
  string(JSON icd SET "${icd}" file_format_version "\"1.0.1\"")
  set(file ${CMAKE_BINARY_DIR}/lavapipe_as_portability_driver.json)
  file(WRITE ${file} "${icd}")
  set(${result} ${file} PARENT_SCOPE)
endfunction()

function(vellum_require_icds)
  if(NOT EXISTS "${VELLUM_TEST_LAVAPIPE_ICD}")
    message(FATAL_ERROR "The device tests need Mesa's lavapipe, whose Vulkan ICD file was not found "
            "(VELLUM_TEST_LAVAPIPE_ICD=\"${VELLUM_TEST_LAVAPIPE_ICD}\"). Run ./setup.sh tests (Debian: mesa-vulkan-drivers).")
  endif()
  if(VELLUM_TEST_SWIFTSHADER AND NOT EXISTS "${VELLUM_TEST_SWIFTSHADER_ICD}")
    message(FATAL_ERROR "The device tests run on SwiftShader too, and ${VELLUM_TEST_SWIFTSHADER_ICD} is not there. "
            "Run ./setup.sh tests, or leave that driver out with -DVELLUM_TEST_SWIFTSHADER=OFF.")
  endif()
endfunction()

function(vellum_add_gpu_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "AS_GPU;IN_TURN;MOLTENVK;WORST_DEVICE;QUICK;OPTIMISED" "SHARDS;TIMEOUT;LABEL"
                        "SOURCES;LIBRARIES;NIGHTLY")
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  vellum_require_icds()
  vellum_test_executable(${name} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
  set(common COMMAND ${name} SHARDS ${arg_SHARDS} TIMEOUT ${arg_TIMEOUT} LABEL ${arg_LABEL}
             NIGHTLY ${arg_NIGHTLY} worst_device optimised)
  if(arg_QUICK)
    list(APPEND common QUICK)
  endif()
  set(limits "")
  if(arg_IN_TURN)
    set(limits VELLUM_TEST_LIMITS=in_turn)
  endif()
  vellum_register_on_driver(${name} lavapipe lavapipe "${VELLUM_TEST_LAVAPIPE_ICD}" ${common}
                            ENVIRONMENT ${limits})
  if(NOT arg_IN_TURN)
    vellum_register_on_driver(${name} baseline2022 lavapipe "${VELLUM_TEST_LAVAPIPE_ICD}" ${common}
                              ENVIRONMENT VELLUM_TEST_LIMITS=android_baseline_2022)
  endif()
  if(arg_AS_GPU AND NOT arg_IN_TURN)
    vellum_register_on_driver(${name} as_gpu lavapipe "${VELLUM_TEST_LAVAPIPE_ICD}" ${common}
                              ENVIRONMENT VELLUM_TEST_LIMITS=as_gpu)
  endif()
  if(arg_MOLTENVK)
    vellum_portability_icd(portability_icd)
    vellum_register_on_driver(${name} moltenvk lavapipe ${portability_icd} ${common} ENVIRONMENT VELLUM_TEST_LIMITS=moltenvk)
  endif()
  if(arg_OPTIMISED)
    vellum_register_on_driver(${name} optimised lavapipe "${VELLUM_TEST_LAVAPIPE_ICD}" ${common} OPTIMISED
                              ENVIRONMENT ${limits})
  endif()
  if(arg_WORST_DEVICE)
    vellum_register_on_driver(${name} worst_device lavapipe "${VELLUM_TEST_LAVAPIPE_ICD}" ${common}
                              ENVIRONMENT VELLUM_TEST_WORST_DEVICE=all ${limits})
  endif()
  if(arg_AS_GPU AND VELLUM_TEST_GPU_ASSISTED)
    set(assisted swiftshader "${VELLUM_TEST_SWIFTSHADER_ICD}" COMMAND ${name} SHARDS ${arg_SHARDS} TIMEOUT 7200
                 ENVIRONMENT VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT)
    vellum_register_on_driver(${name} gpu_assisted ${assisted})
    vellum_register_on_driver(${name} as_gpu_assisted ${assisted} VELLUM_TEST_LIMITS=as_gpu)
  endif()
  if(VELLUM_TEST_SWIFTSHADER)
    vellum_register_on_driver(${name} swiftshader swiftshader "${VELLUM_TEST_SWIFTSHADER_ICD}" ${common})
  endif()
endfunction()

function(vellum_add_gpu_run name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "QUICK" "TIMEOUT;EXPECT;LABEL" "COMMAND;NIGHTLY")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  vellum_require_icds()
  set(common COMMAND ${arg_COMMAND} SHARDS 1 TIMEOUT ${arg_TIMEOUT} EXPECT "${arg_EXPECT}" LABEL ${arg_LABEL}
             NIGHTLY ${arg_NIGHTLY})
  if(arg_QUICK)
    list(APPEND common QUICK)
  endif()
  vellum_register_on_driver(${name} lavapipe lavapipe "${VELLUM_TEST_LAVAPIPE_ICD}" ${common})
  if(VELLUM_TEST_SWIFTSHADER)
    vellum_register_on_driver(${name} swiftshader swiftshader "${VELLUM_TEST_SWIFTSHADER_ICD}" ${common})
  endif()
endfunction()
