# One object library per room, then the library and the tool made of them. Everything follows from
# where a file is and how its name ends:
#   *_kernel.c                 compiled once per vector width (src/base/cpu.h)
#   *_plugin.c, *_preload.c    a shared object of its own (cmake/collectors.cmake, mpi.cmake)
#   runtime/recorder, runtime/trap, collect/qemu, collect/valgrind   inside a watched program only (cmake/collectors.cmake)
#   collect/rewrite            the assembler pass (cmake/asm_pass.cmake)
set(RSC_ROOMS base estimate runtime trace profile distance multicore featherlight engine simulate loops collect report)
set(RSC_NOT_IN_THE_TOOL "/(runtime/(recorder|trap)|collect/(qemu|valgrind|rewrite))/|_(plugin|preload)\\.c$")
set(RSC_ROOM_LIBRARIES PkgConfig::ZSTD PkgConfig::LZMA PkgConfig::ZLIB PkgConfig::XXHASH PkgConfig::JANSSON Threads::Threads m)
set(RSC_WIDTHS plain)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND RSC_WIDTHS avx2 avx512)
  set(RSC_WIDTH_avx2 -mavx2 -mbmi -mbmi2 -mpopcnt -mlzcnt)
  set(RSC_WIDTH_avx512 ${RSC_WIDTH_avx2} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vpopcntdq -mavx512vbmi
      -mprefer-vector-width=512)
endif()

set(RSC_ROOM_OBJECTS)
function(rsc_room_library name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${RSC_ROOM_LIBRARIES})
  set(RSC_ROOM_OBJECTS ${RSC_ROOM_OBJECTS} $<TARGET_OBJECTS:${name}> PARENT_SCOPE)
endfunction()
foreach(room IN LISTS RSC_ROOMS)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  list(FILTER sources EXCLUDE REGEX "${RSC_NOT_IN_THE_TOOL}")
  if(NOT RSC_LIBCLANG_INCLUDE)
    list(FILTER sources EXCLUDE REGEX "/loops/front/clang_[a-z_]*\\.c$")
  endif()
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "_kernel\\.c$")
  list(FILTER sources EXCLUDE REGEX "_kernel\\.c$")
  rsc_room_library(room_${room} ${sources})
  foreach(width IN LISTS RSC_WIDTHS)
    if(kernels)
      rsc_room_library(room_${room}_${width} ${kernels})
      target_compile_definitions(room_${room}_${width} PRIVATE RSC_WIDTH=${width})
      target_compile_options(room_${room}_${width} PRIVATE ${RSC_WIDTH_${width}})
    endif()
  endforeach()
endforeach()

# The HTML page's template, embedded in the tool; web/build.mjs makes it, so no node is needed here.
set(RSC_PAGE_TEMPLATE ${PROJECT_BINARY_DIR}/page_template.c)
add_custom_command(OUTPUT ${RSC_PAGE_TEMPLATE}
  COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR}/web/dist/page.html -DTO=${RSC_PAGE_TEMPLATE}
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/web/dist/page.html ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake VERBATIM)
target_sources(room_report PRIVATE ${RSC_PAGE_TEMPLATE})

# The same random numbers on every machine: no fused multiply-add where the source has two roundings.
set_source_files_properties(src/base/rng.c src/base/portable_math.c PROPERTIES COMPILE_OPTIONS -ffp-contract=off)

add_library(reusescope_static STATIC ${RSC_ROOM_OBJECTS})
set_target_properties(reusescope_static PROPERTIES OUTPUT_NAME reusescope)
target_include_directories(reusescope_static PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(reusescope_static PUBLIC ${RSC_ROOM_LIBRARIES})

add_library(reusescope_shared SHARED ${RSC_ROOM_OBJECTS})
# libreusescope.so.N: N is the binary interface, which need not change with the version.
file(STRINGS include/reusescope/reusescope.h RSC_ABI REGEX "^#define RSC_ABI [0-9]+$")
string(REGEX REPLACE ".* " "" RSC_ABI "${RSC_ABI}")
set_target_properties(reusescope_shared PROPERTIES OUTPUT_NAME reusescope EXPORT_NAME reusescope VERSION ${RSC_ABI}.${PROJECT_VERSION}
                                                   SOVERSION ${RSC_ABI} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/reusescope.map)
target_link_options(reusescope_shared PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/reusescope.map)
target_include_directories(reusescope_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_link_libraries(reusescope_shared PRIVATE ${RSC_ROOM_LIBRARIES})

# loops: C source; without libclang's header only the text form is read.
if(RSC_LIBCLANG_INCLUDE)
  target_compile_definitions(room_loops PRIVATE RSC_HAVE_LIBCLANG)
  target_include_directories(room_loops SYSTEM PRIVATE ${RSC_LIBCLANG_INCLUDE})
endif()
# Names of code and data; without libdw that part reports an error. The C++ demangler is loaded when needed (dlopen).
if(LIBDW_FOUND)
  target_compile_definitions(room_collect PRIVATE RSC_HAVE_LIBDW)
  target_link_libraries(room_collect PUBLIC PkgConfig::LIBDW)
  target_link_libraries(reusescope_static PUBLIC PkgConfig::LIBDW)
  target_link_libraries(reusescope_shared PRIVATE PkgConfig::LIBDW)
  set(RSC_PC_LIBDW "-ldw -lelf")
endif()
# Loops of machine code; without Zydis profiles have none.
if(ZYDIS_INCLUDE AND ZYDIS_LIBRARY AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(RSC_CODE_LOOPS ON)
  target_compile_definitions(room_collect PRIVATE RSC_HAVE_ZYDIS)
  target_include_directories(room_collect PRIVATE ${ZYDIS_INCLUDE})
  target_link_libraries(reusescope_static PUBLIC ${ZYDIS_LIBRARY})
  target_link_libraries(reusescope_shared PRIVATE ${ZYDIS_LIBRARY})
  set(RSC_PC_ZYDIS "-lZydis")
endif()
# OpenMP in one file; without it the same file makes the engine of one thread.
if(OpenMP_C_FOUND)
  set_source_files_properties(src/distance/hprda/hprda.c PROPERTIES COMPILE_OPTIONS "${OpenMP_C_FLAGS}")
  target_link_libraries(reusescope_static PUBLIC ${OpenMP_C_LIBRARIES})
  target_link_libraries(reusescope_shared PRIVATE ${OpenMP_C_LIBRARIES})
  list(TRANSFORM OpenMP_C_LIB_NAMES PREPEND "-l" OUTPUT_VARIABLE RSC_PC_OPENMP)
  list(JOIN RSC_PC_OPENMP " " RSC_PC_OPENMP)
else()
  set_source_files_properties(src/distance/hprda/hprda.c PROPERTIES COMPILE_OPTIONS -Wno-unknown-pragmas)
endif()
target_link_libraries(reusescope_static PUBLIC ${CMAKE_DL_LIBS})
target_link_libraries(reusescope_shared PRIVATE ${CMAKE_DL_LIBS})

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cmd/*.c)
add_executable(reusescope ${sources})
target_link_libraries(reusescope PRIVATE reusescope_static)
