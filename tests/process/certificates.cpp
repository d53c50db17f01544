#include "certificates.hpp"

#include "child_process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

namespace rowlock::test {

certificates::certificates(const std::string& address) {
  make("known");
  make("other");
  make("server", {"-CA", known(), "-CAkey", file("known.key"), "-addext", "subjectAltName=IP:" + address});
  make("client", {"-CA", known(), "-CAkey", file("known.key")});
  // The server runs as another user, who must be able to read the files.
  using std::filesystem::perms;
  std::filesystem::permissions(folder_.path(), perms::owner_all | perms::others_read | perms::others_exec);
  for (const auto& key : {server_key(), other_key()})
    std::filesystem::permissions(key, perms::owner_read | perms::others_read);
}

void certificates::make(const std::string& name, const std::vector<std::string>& more) const {
  std::vector<std::string> arguments{"/usr/bin/env",
                                     "openssl",
                                     "req",
                                     "-x509",
                                     "-newkey",
                                     "rsa:2048",
                                     "-noenc",
                                     "-days",
                                     "2",
                                     "-subj",
                                     "/CN=rowlock " + name,
                                     "-keyout",
                                     file(name + ".key"),
                                     "-out",
                                     file(name + ".pem")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  // openssl prints dots while it looks for primes.
  child_setup setup;
  setup.out = setup.err = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int status = child_process{arguments, setup}.wait();
  ::close(setup.out);
  if (status != 0) throw std::runtime_error("openssl cannot make the certificate of " + name);
}

}  // namespace rowlock::test
