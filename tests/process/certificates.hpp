// Certificates for a test, made with the openssl command.
#pragma once

#include "support/temporary_folder.hpp"

#include <string>
#include <vector>

namespace rowlock::test {

class certificates {
 public:
  // Makes two authorities, `known` and `other`, and certificates for `address` and for a client that `known` has
  // signed. Any user may read all of these files. Throws std::runtime_error if openssl fails.
  explicit certificates(const std::string& address);

  std::string known() const { return file("known.pem"); }
  std::string other() const { return file("other.pem"); }
  std::string other_key() const { return file("other.key"); }
  std::string server() const { return file("server.pem"); }
  std::string server_key() const { return file("server.key"); }
  std::string client() const { return file("client.pem"); }
  std::string client_key() const { return file("client.key"); }

 private:
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  // Makes a key and its self-signed certificate.
  void make(const std::string& name, const std::vector<std::string>& more = {}) const;

  temporary_folder folder_;
};

}  // namespace rowlock::test
