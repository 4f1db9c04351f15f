# The libraries the project is built on (versions: cmake/deps/versions.txt, installed by make deps).

find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(spdlog REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(GTest REQUIRED)
find_package(ZLIB REQUIRED)
find_library(GMP_LIBRARY gmp REQUIRED)
find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)

# Debian's CAF brings no CMake files.
if(MOXZI_WITH_CAF)
  find_package(prometheus-cpp REQUIRED)
  find_library(CAF_CORE_LIBRARY caf_core REQUIRED)
  find_library(CAF_IO_LIBRARY caf_io REQUIRED)
  add_library(moxzi_caf INTERFACE)
  add_library(Moxzi::caf ALIAS moxzi_caf)
  target_link_libraries(moxzi_caf INTERFACE $<BUILD_INTERFACE:${CAF_IO_LIBRARY}>
    $<BUILD_INTERFACE:${CAF_CORE_LIBRARY}> $<INSTALL_INTERFACE:caf_io> $<INSTALL_INTERFACE:caf_core>
    Threads::Threads)
  if(MOXZI_SANITIZE MATCHES "undefined")
    target_compile_options(moxzi_caf INTERFACE -fno-sanitize=null) # reported in CAF's own headers
  endif()
endif()

# The wasm engine: the library out of its Python wheel, headers of the same version.
file(GLOB MOXZI_WASMTIME_LIBRARY
  "${MOXZI_DEPS}/venv/lib/python3*/site-packages/wasmtime/linux-x86_64/_libwasmtime.so")
if(NOT MOXZI_WASMTIME_LIBRARY OR NOT EXISTS "${MOXZI_DEPS}/wasmtime/include/wasmtime.h")
  message(FATAL_ERROR "no wasm engine under ${MOXZI_DEPS}: run 'make deps'")
endif()
# Its name begins with no "lib" and it carries no SONAME, so the linker is told the file's name.
cmake_path(GET MOXZI_WASMTIME_LIBRARY PARENT_PATH MOXZI_WASMTIME_FOLDER)
add_library(moxzi_wasmtime INTERFACE)
add_library(Moxzi::wasmtime ALIAS moxzi_wasmtime)
target_include_directories(moxzi_wasmtime SYSTEM INTERFACE "${MOXZI_DEPS}/wasmtime/include")
target_link_options(moxzi_wasmtime INTERFACE "LINKER:-rpath,${MOXZI_WASMTIME_FOLDER}")
target_link_libraries(moxzi_wasmtime INTERFACE "-L${MOXZI_WASMTIME_FOLDER}" -l:_libwasmtime.so)

if(MOXZI_WITH_TORCH)
  file(GLOB TORCH_WHEEL_SITE "${MOXZI_DEPS}/venv/lib/python3*/site-packages")
  find_package(TorchWheel 2.11 REQUIRED)
endif()
