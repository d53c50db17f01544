// The command's parsers stand beside what connects. The fuzz targets never do.
#include <rowlock/client.hpp>

#include <stdexcept>

ROWLOCK_BEGIN_NAMESPACE

client connect(const std::string&, const options&) {
  throw std::logic_error("a fuzz target connects");
}

ROWLOCK_END_NAMESPACE
