#include "bench/soci_words.hpp"

#include <fmt/format.h>

namespace rowlock::bench {

std::string soci_words(const std::string& url) {
  const auto begin = url.find("://") + 3;
  const auto whole = url.substr(begin, url.find('?', begin) - begin);
  const auto slash = whole.find('/');
  const auto at = whole.rfind('@', slash);
  const auto who = at == std::string::npos ? std::string{} : whole.substr(0, at);
  const auto where = at == std::string::npos ? whole.substr(0, slash) : whole.substr(at + 1, slash - at - 1);
  std::string words = "charset=utf8mb4";
  const auto add = [&](const std::string& word, const std::string& value) {
    if (value.empty()) return;
    words += fmt::format(" {}='", word);
    for (std::size_t i = 0; i < value.size(); ++i) {
      char c = value[i];
      if (c == '%' && i + 2 < value.size()) {
        c = static_cast<char>(std::stoi(value.substr(i + 1, 2), nullptr, 16));
        i += 2;
      }
      if (c == '\'' || c == '\\') words += '\\';
      words += c;
    }
    words += '\'';
  };
  const auto part = [](const std::string& text, bool second) {
    const auto colon = text.find(':');
    if (!second) return text.substr(0, colon);
    return colon == std::string::npos ? std::string{} : text.substr(colon + 1);
  };
  add("user", part(who, false));
  add("password", part(who, true));
  add("host", part(where, false));
  add("port", part(where, true));
  if (slash != std::string::npos) add("db", whole.substr(slash + 1));
  const auto socket = url.find("socket=");
  if (socket != std::string::npos)
    add("unix_socket", url.substr(socket + 7, url.find('&', socket) - socket - 7));
  return words;
}

}  // namespace rowlock::bench
