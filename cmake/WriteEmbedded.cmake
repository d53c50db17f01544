# Run with -P: writes FILES (separated by |) into OUTPUT as one function SYMBOL.
string(REPLACE "|" ";" files "${FILES}")
set(body "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  string(REGEX REPLACE "\\.sql$" "" name "${name}")
  file(READ "${file}" text)
  file(SHA256 "${file}" checksum)
  string(APPEND body "    {\"${name}\", R\"embedded(${text})embedded\", \"${checksum}\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"store/embedded.hpp\"

namespace rowlock::embedded {

std::span<const file> ${SYMBOL}() {
  static constexpr file files[] = {
${body}  };
  return files;
}

}  // namespace rowlock::embedded
")
