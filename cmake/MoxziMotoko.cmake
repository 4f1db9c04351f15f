# moxzi_motoko(TARGET FILES...): compiles Motoko actors while building, with the script that `moxzi
# build` uses, into <build>/motoko/NAME.wasm.
find_program(MOXZI_NODE node REQUIRED)
set(MOXZI_MOTOKO_DIR "${PROJECT_BINARY_DIR}/motoko")

function(moxzi_motoko target)
  set(compiler "${PROJECT_SOURCE_DIR}/actors/build/compile.js")
  set(modules "")
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file)
    cmake_path(GET file STEM name)
    set(module "${MOXZI_MOTOKO_DIR}/${name}.wasm")
    add_custom_command(OUTPUT "${module}"
      COMMAND "${MOXZI_NODE}" "${compiler}" --npm "${MOXZI_DEPS}/npm" "${file}" "${MOXZI_MOTOKO_DIR}"
      DEPENDS "${file}" "${compiler}" COMMENT "Compiling ${name}.mo" VERBATIM)
    list(APPEND modules "${module}")
  endforeach()
  add_custom_target(${target} DEPENDS ${modules})
endfunction()
