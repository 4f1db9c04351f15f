# How every target of the project is compiled and linked.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# What make deps installed: $MOXZI_DEPS, else what an earlier run of CMake was told, else .deps.
set(MOXZI_DEPS "${PROJECT_SOURCE_DIR}/.deps" CACHE PATH "what make deps installed")
if(DEFINED ENV{MOXZI_DEPS})
  set(MOXZI_DEPS "$ENV{MOXZI_DEPS}" CACHE PATH "what make deps installed" FORCE)
endif()
set(MOXZI_SANITIZE "" CACHE STRING "address,undefined or thread")
option(MOXZI_FUZZ "build the libFuzzer targets only (clang)" OFF)

# Debian's CAF is not built with the thread sanitizer and gives false races by the dozen; what has
# threads of its own (the wasm pool, the journal) is free of CAF and is what the tsan preset tests.
# The fuzzers drive pure code only.
set(MOXZI_WITH_CAF ON)
if(MOXZI_FUZZ OR MOXZI_SANITIZE MATCHES "thread")
  set(MOXZI_WITH_CAF OFF)
endif()
# libtorch is prebuilt too, and noisy under sanitizers.
set(MOXZI_WITH_TORCH ON)
if(MOXZI_FUZZ OR MOXZI_SANITIZE)
  set(MOXZI_WITH_TORCH OFF)
endif()

find_program(MOXZI_CCACHE ccache)
if(MOXZI_CCACHE)
  # Checkouts share results: paths below the source folder count as relative.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${MOXZI_CCACHE})
endif()
find_program(MOXZI_MOLD mold)
if(MOXZI_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Werror=return-type -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)
endif()
if(MOXZI_SANITIZE)
  add_compile_options(-fsanitize=${MOXZI_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all -O1)
  add_link_options(-fsanitize=${MOXZI_SANITIZE})
endif()
if(MOXZI_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()

# moxzi_library(NAME SOURCES...): a static library of one folder, seen from the repository's root.
function(moxzi_library name)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
    "$<INSTALL_INTERFACE:include;include/moxzi>")
  target_compile_features(${name} PUBLIC cxx_std_20)
endfunction()

# moxzi_use_caf(NAME): links CAF, shares the precompiled CAF headers.
function(moxzi_use_caf name)
  target_link_libraries(${name} PUBLIC Moxzi::caf)
  target_precompile_headers(${name} PRIVATE <caf/all.hpp>)
endfunction()

# moxzi_program(NAME SOURCES...): a program in bin/.
function(moxzi_program name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
endfunction()
