# Finds the headers of Apache DataSketches (tools/datasketches brings them): estimates and unions of HLL sketches.
mr_find_cached(header datasketches-*/include/hll.hpp)
if(header)
  get_filename_component(MR_DATASKETCHES ${header} DIRECTORY)
  set_source_files_properties(core/expr/hll_library.cc PROPERTIES
    COMPILE_OPTIONS "-fexceptions;-frtti;-isystem;${MR_DATASKETCHES}")
else()
  message(WARNING "no Apache DataSketches: building without HLL estimates (tools/datasketches gets it, needs cargo)")
  set(MR_DATASKETCHES OFF)
endif()
