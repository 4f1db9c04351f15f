# FindTorchWheel: libtorch as it lies inside a pip wheel, as imported targets. No nvcc, no CUDA
# toolkit and none of Torch's own CMake files are needed.
#
# Input    TORCH_WHEEL_SITE: the site-packages folder that holds torch
# Targets  TorchWheel::cpu                      c10 and torch_cpu (never libtorch.so: it needs CUDA)
#          TorchWheel::cuda_headers             headers of the CUDA runtime and NCCL
#          TorchWheel::cuda                     c10_cuda, torch_cuda, cudart, on top of ::cpu
#          TorchWheel::nccl
#          TorchWheel::nvrtc
# Sets     TorchWheel_VERSION

include(FindPackageHandleStandardArgs)
set(_torch "${TORCH_WHEEL_SITE}/torch")
foreach(_lib c10 torch_cpu torch_cuda c10_cuda)
  find_library(TorchWheel_${_lib}_LIBRARY ${_lib} PATHS "${_torch}/lib" NO_DEFAULT_PATH)
  mark_as_advanced(TorchWheel_${_lib}_LIBRARY)
endforeach()
file(GLOB TorchWheel_cudart_LIBRARY "${TORCH_WHEEL_SITE}/nvidia/*/lib/libcudart.so.*")
file(GLOB TorchWheel_nccl_LIBRARY "${TORCH_WHEEL_SITE}/nvidia/nccl/lib/libnccl.so.*")
file(GLOB TorchWheel_nvrtc_LIBRARY "${TORCH_WHEEL_SITE}/nvidia/*/lib/libnvrtc.so.*")
file(GLOB _nvidia_includes "${TORCH_WHEEL_SITE}/nvidia/*/include")
file(GLOB _nvidia_libraries "${TORCH_WHEEL_SITE}/nvidia/*/lib")
# cuda_runtime_api.h wants crt/host_defines.h, cuda_fp16.h wants nv/target: wheels of their own.
file(GLOB_RECURSE _nv_target "${TORCH_WHEEL_SITE}/nvidia/*/include/nv/target"
  "${TORCH_WHEEL_SITE}/nvidia/*/include/cccl/nv/target")
if(_nv_target)
  list(GET _nv_target 0 _nv_target)
  cmake_path(GET _nv_target PARENT_PATH _nv_target)
  cmake_path(GET _nv_target PARENT_PATH _nv_target)
  list(APPEND _nvidia_includes "${_nv_target}")
endif()
if(EXISTS "${_torch}/version.py")
  file(STRINGS "${_torch}/version.py" _line REGEX "^__version__")
  string(REGEX REPLACE ".*'([0-9.]+).*" "\\1" TorchWheel_VERSION "${_line}")
endif()

find_package_handle_standard_args(TorchWheel
  REQUIRED_VARS TorchWheel_torch_cpu_LIBRARY TorchWheel_c10_LIBRARY TorchWheel_torch_cuda_LIBRARY
    TorchWheel_cudart_LIBRARY TorchWheel_nccl_LIBRARY TorchWheel_nvrtc_LIBRARY
  VERSION_VAR TorchWheel_VERSION)

if(TorchWheel_FOUND AND NOT TARGET TorchWheel::cpu)
  function(_torch_import name library)
    add_library(TorchWheel::${name} SHARED IMPORTED)
    set_target_properties(TorchWheel::${name} PROPERTIES IMPORTED_LOCATION "${library}")
  endfunction()
  # libtorch's libraries carry an RPATH to nvidia/*/lib; only the linker has to be told.
  list(TRANSFORM _nvidia_libraries PREPEND "LINKER:-rpath-link," OUTPUT_VARIABLE _rpath_link)

  _torch_import(c10 "${TorchWheel_c10_LIBRARY}")
  target_include_directories(TorchWheel::c10 SYSTEM INTERFACE "${_torch}/include")
  target_link_options(TorchWheel::c10 INTERFACE ${_rpath_link})
  _torch_import(cpu "${TorchWheel_torch_cpu_LIBRARY}")
  target_link_libraries(TorchWheel::cpu INTERFACE TorchWheel::c10 Threads::Threads)

  add_library(TorchWheel::cuda_headers INTERFACE IMPORTED)
  target_include_directories(TorchWheel::cuda_headers SYSTEM INTERFACE ${_nvidia_includes})
  list(GET TorchWheel_cudart_LIBRARY 0 _cudart)
  _torch_import(cudart "${_cudart}")
  list(GET TorchWheel_nccl_LIBRARY 0 _nccl)
  _torch_import(nccl "${_nccl}")
  target_link_libraries(TorchWheel::nccl INTERFACE TorchWheel::cuda_headers)
  list(GET TorchWheel_nvrtc_LIBRARY 0 _nvrtc)
  _torch_import(nvrtc "${_nvrtc}")
  target_link_libraries(TorchWheel::nvrtc INTERFACE TorchWheel::cuda_headers)
  # It opens its builtins by name, and finds them by the search path of what links it, if that is of
  # the old kind, which is passed on.
  target_link_options(TorchWheel::nvrtc INTERFACE LINKER:--disable-new-dtags)
  _torch_import(c10_cuda "${TorchWheel_c10_cuda_LIBRARY}")
  _torch_import(cuda "${TorchWheel_torch_cuda_LIBRARY}")
  # Loading torch_cuda registers its kernels, even where no symbol of it is referenced.
  target_link_options(TorchWheel::cuda INTERFACE LINKER:--no-as-needed)
  target_link_libraries(TorchWheel::cuda INTERFACE TorchWheel::cpu TorchWheel::c10_cuda
    TorchWheel::cudart TorchWheel::cuda_headers)
endif()
