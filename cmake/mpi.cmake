# The MPI plugin: ranks over MPI, loaded for --engine mpi only. It stands beside the
# tool in the build tree and in LIBDIR/reusescope when installed.
find_package(MPI QUIET COMPONENTS C)
if(MPI_C_FOUND)
  add_library(reusescope_mpi MODULE src/distance/ranks/mpi_plugin.c src/base/fail.c)
  set_target_properties(reusescope_mpi PROPERTIES OUTPUT_NAME reusescope-mpi)
  target_include_directories(reusescope_mpi PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(reusescope_mpi PRIVATE -fno-sanitize=all)
  target_link_options(reusescope_mpi PRIVATE -fno-sanitize=all)
  target_link_libraries(reusescope_mpi PRIVATE MPI::MPI_C)
  install(TARGETS reusescope_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/reusescope)
endif()
