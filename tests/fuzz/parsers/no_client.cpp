// The sources of the command's parsers call functions that connect. The fuzz targets never reach these.
#include <rowlock/client.hpp>

#include <stdexcept>

ROWLOCK_BEGIN_NAMESPACE

client connect(const std::string&, const options&) {
  throw std::logic_error("a fuzz target connects");
}

void client::close() noexcept {}

ROWLOCK_END_NAMESPACE
