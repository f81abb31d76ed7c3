# The GPU plugin. nvcc takes minutes for all kinds of GPU, so it is built when asked
# for: -DRSC_CUDA=ON, or the target `gpu` (make gpu). It stands beside the tool in
# the build tree and in LIBDIR/reusescope when installed.
option(RSC_CUDA "Build the GPU plugin with everything else (needs nvcc of CUDA 12 or newer)" OFF)
set(RSC_CUDA_ARCH all-major CACHE STRING "What nvcc builds for: all-major, native, sm_90, ...")
find_program(RSC_NVCC nvcc HINTS /usr/local/cuda/bin ENV CUDA_PATH PATH_SUFFIXES bin)
file(GLOB gpu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/gpu/*.cu ${PROJECT_SOURCE_DIR}/gpu/*.cuh ${PROJECT_SOURCE_DIR}/gpu/*.h
     ${PROJECT_SOURCE_DIR}/gpu/emulated.cc)
if(RSC_NVCC)
  set(gpu_plugin ${PROJECT_BINARY_DIR}/libreusescope-cuda.so)
  add_custom_command(OUTPUT ${gpu_plugin}
    COMMAND make -C ${PROJECT_SOURCE_DIR}/gpu NVCC=${RSC_NVCC} ARCH=${RSC_CUDA_ARCH} BUILD=${PROJECT_BINARY_DIR}/gpu
            ${PROJECT_BINARY_DIR}/gpu/libreusescope-cuda.so
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_BINARY_DIR}/gpu/libreusescope-cuda.so ${gpu_plugin}
    DEPENDS ${gpu_sources} ${PROJECT_SOURCE_DIR}/gpu/Makefile ${PROJECT_SOURCE_DIR}/src/distance/gpu/gpu_plugin.h VERBATIM)
  if(RSC_CUDA)
    add_custom_target(gpu ALL DEPENDS ${gpu_plugin})
  else()
    add_custom_target(gpu DEPENDS ${gpu_plugin})
  endif()
  install(FILES ${gpu_plugin} DESTINATION ${CMAKE_INSTALL_LIBDIR}/reusescope OPTIONAL)
elseif(RSC_CUDA)
  message(FATAL_ERROR "RSC_CUDA: nvcc is missing (CUDA 12 or newer)")
endif()

# The same plugin with its kernels on the CPU, for tests: neither nvcc nor a GPU is needed. TSan does not know its fibers.
find_program(RSC_CXX NAMES g++ clang++ c++)
if(RSC_TESTS AND RSC_CXX AND NOT RSC_FUZZ AND NOT RSC_SANITIZE STREQUAL "thread")
  set(RSC_EMULATED_OBJECT ${PROJECT_BINARY_DIR}/gpu_emulated.o)
  set(RSC_EMULATED_PLUGIN ${PROJECT_BINARY_DIR}/libreusescope-cuda-emulated.so)
  set(emulated_flags -O2 -g -std=c++17 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -Wno-unknown-pragmas
      -Wno-missing-field-initializers -I${PROJECT_SOURCE_DIR}/gpu -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include)
  set(emulated_link)
  if(RSC_SANITIZE)
    list(APPEND emulated_flags -O1 -fsanitize=${RSC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    set(emulated_link -fsanitize=${RSC_SANITIZE})
  endif()
  add_custom_command(OUTPUT ${RSC_EMULATED_OBJECT}
    COMMAND ${RSC_CXX} ${emulated_flags} -c ${PROJECT_SOURCE_DIR}/gpu/emulated.cc -o ${RSC_EMULATED_OBJECT}
    DEPENDS ${gpu_sources} ${PROJECT_SOURCE_DIR}/src/distance/gpu/gpu_plugin.h VERBATIM)
  add_custom_command(OUTPUT ${RSC_EMULATED_PLUGIN}
    COMMAND ${RSC_CXX} -shared ${emulated_link} ${RSC_EMULATED_OBJECT} -o ${RSC_EMULATED_PLUGIN}
    DEPENDS ${RSC_EMULATED_OBJECT} VERBATIM)
  add_custom_target(gpu_emulated ALL DEPENDS ${RSC_EMULATED_PLUGIN})
endif()
