#include "cli/failure.hpp"

#include "cli/exit_code.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <exception>
#include <string>
#include <system_error>

namespace rowlock::cli {

namespace {

std::string text_of(const error& problem) {
  std::string text = problem.what();
  const auto& code = problem.database_code();
  if (!code.empty() && text.find(code) == std::string::npos) text += " [" + code + "]";
  if (problem.code() == errc::not_migrated && text.find("migrate up") == std::string::npos) {
    text += "; run: rowlock migrate up";
  }
  return text;
}

}  // namespace

int report_failure(const context& global) {
  try {
    throw;
  } catch (const error& problem) {
    global.print_to_stderr(text_of(problem));
    return exit_code_of(problem.kind());
  } catch (const std::system_error& problem) {
    const bool lacks_threads = problem.code() == std::errc::resource_unavailable_try_again;
    global.print_to_stderr(
        lacks_threads ? fmt::format("no thread can be started: {}; too many processes and threads run for "
                                    "this user (ulimit -u) or this container",
                                    problem.code().message())
                      : fmt::format("internal fault: {}", problem.what()));
    return lacks_threads ? unavailable : software;
  } catch (const std::exception& problem) {
    global.print_to_stderr(fmt::format("internal fault: {}", problem.what()));
    return software;
  }
}

}  // namespace rowlock::cli
