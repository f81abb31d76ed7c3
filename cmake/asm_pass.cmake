# The assembler pass of `reusescope cc`: a program called `as` in a folder of its own,
# where compilers find it by -B. x86-64 only, and only with Zydis.
if(ZYDIS_INCLUDE AND ZYDIS_LIBRARY AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(RSC_ASM_PASS ON)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/collect/rewrite/*.c)
  list(FILTER sources EXCLUDE REGEX "_main\\.c$")
  add_library(reusescope_pass STATIC ${sources} src/base/arena.c src/base/fail.c src/base/numbers.c)
  target_include_directories(reusescope_pass PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${ZYDIS_INCLUDE})
  target_link_libraries(reusescope_pass PUBLIC ${ZYDIS_LIBRARY})
  add_executable(reusescope_as src/collect/rewrite/asm_main.c)
  target_link_libraries(reusescope_as PRIVATE reusescope_pass)
  set_target_properties(reusescope_as PROPERTIES OUTPUT_NAME as RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/cc)
  install(TARGETS reusescope_as RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/reusescope/cc)
endif()
