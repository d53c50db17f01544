# rowlock_embed_sql(target symbol file...): compiles the files' texts into the target as
#   namespace rowlock::embedded { std::span<const file> symbol(); }   (src/store/embedded.hpp)
# A file's name there is its name without folder and without ".sql". The statements of a store's file are told
# apart by src/store/sql_catalog.hpp.
function(rowlock_embed_sql target symbol)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  string(REPLACE ";" "|" files "${ARGN}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSYMBOL=${symbol} "-DFILES=${files}" -P
            ${PROJECT_SOURCE_DIR}/cmake/WriteEmbedded.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/WriteEmbedded.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
