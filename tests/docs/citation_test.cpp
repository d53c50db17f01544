// Everything that the pages and the comments cite exists: files, sections, and the targets of links.
#include "docs/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;

// The files below a folder, by their paths from the top of the tree.
std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator{source_path(folder)}) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), source_path("")).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_page(const std::string& path) {
  return path.ends_with(".md") || path.ends_with(".1");
}

std::vector<std::string> pages() {
  std::vector<std::string> found{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"};
  std::ranges::copy_if(files_below("docs"), std::back_inserter(found), is_page);
  return found;
}

const std::set<std::string>& source_files() {
  static const auto files = [] {
    std::set<std::string> all;
    for (const auto* folder :
         {"src", "include", "tests", "examples", "migrations", "schema", "scripts", "bench"}) {
      for (auto& file : files_below(folder)) all.insert(std::move(file));
    }
    for (auto& page : pages()) all.insert(std::move(page));
    return all;
  }();
  return files;
}

// "lease_test.cpp" exists if any folder has such a file, "client/lease_test.cpp" if a folder `client` has one.
bool is_there(const std::string& cited) {
  return std::ranges::any_of(
      source_files(), [&](const std::string& file) { return file == cited || file.ends_with("/" + cited); });
}

// The text as one line, without the marks of comments, because a citation may continue in the next line.
std::string joined(const std::string& text) {
  static const std::regex line_end{R"(\s*\n\s*(?:(?://|--|#|\.\\")\s)?\s*)"};
  return std::regex_replace(text, line_end, " ");
}

std::vector<std::smatch> matches(const std::string& text, const std::regex& what) {
  return {std::sregex_iterator{text.begin(), text.end(), what}, {}};
}

std::vector<std::string> headings(const std::string& page) {
  std::vector<std::string> found;
  bool inside = false;
  for (const auto& line : lines_of(page)) {
    if (line.starts_with("```")) inside = !inside;
    if (!inside && line.starts_with("#")) found.push_back(line.substr(line.find_first_not_of("# ")));
  }
  return found;
}

// The anchor that GitHub makes of a heading.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const unsigned char letter : heading) {
    if (std::isalnum(letter) != 0 || letter == '-' || letter == '_') {
      anchor += static_cast<char>(std::tolower(letter));
    } else if (letter == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

struct citation {
  std::string page;
  std::string section;  // empty: the citation names the page alone
};

// Finds docs/design.md, "Layers"; [design.md](docs/design.md), "Layers"; README, "Layers"; "Layers" in docs/design.md
std::vector<citation> citations_in(const std::string& file) {
  static const std::regex page{
      R"re(\b(docs/[a-z_-]+\.(?:md|1)\b|(?:README|CONTRIBUTING|SECURITY|CHANGELOG)\b))re"};
  static const std::regex page_first{
      R"re(\b(docs/[a-z_-]+\.md|README|CONTRIBUTING|SECURITY)(?:\.md)?\)?,? "([A-Z][^"]{0,80})")re"};
  static const std::regex section_first{
      R"re("([A-Z][^"]{0,80})" in (?:\[[^\]]*\]\()?(docs/[a-z_-]+\.md|README|CONTRIBUTING|SECURITY))re"};
  std::vector<citation> found;
  // Most files cite nothing, and regular expressions are slow.
  constexpr std::array starts{"docs/", "README", "CONTRIBUTING", "SECURITY", "CHANGELOG"};
  if (std::ranges::none_of(starts, [&](const char* start) { return file.find(start) != file.npos; }))
    return found;
  const auto text = joined(file);
  for (const auto& match : matches(text, page)) found.push_back({match[1], ""});
  for (const auto& match : matches(text, page_first)) found.push_back({match[1], match[2]});
  for (const auto& match : matches(text, section_first)) found.push_back({match[2], match[1]});
  for (auto& one : found) {
    if (!is_page(one.page)) one.page += ".md";
  }
  return found;
}

TEST(citation_test, pages_and_comments_cite_sections_that_exist) {
  auto files = pages();
  for (const auto* folder : {"src", "include", "tests"}) {
    for (auto& file : files_below(folder)) files.push_back(std::move(file));
  }
  std::set<std::string> cited;
  for (const auto& file : files) {
    if (file == "tests/docs/citation_test.cpp") continue;
    for (const auto& [page, section] : citations_in(text_of(file))) {
      ASSERT_TRUE(fs::exists(source_path(page))) << file << " cites " << page;
      if (section.empty()) continue;
      EXPECT_THAT(headings(page), testing::Contains(section)) << file << " cites " << page;
      cited.insert(section);
    }
  }
  EXPECT_THAT(cited, testing::IsSupersetOf({"Layers", "Migrations", "Rules for every statement"}));
}

TEST(citation_test, links_lead_to_files_and_sections) {
  static const std::regex link{R"(\]\(([^)#\s]*)(?:#([^)\s]*))?\))"};
  std::size_t followed = 0;
  for (const auto& page : pages()) {
    const auto text = text_of(page);
    for (const auto& match : matches(text, link)) {
      const std::string path = match[1];
      const std::string anchor = match[2];
      if (path.find("://") != std::string::npos) continue;
      const auto target =
          path.empty() ? page : (fs::path{page}.parent_path() / path).lexically_normal().string();
      ++followed;
      if (!fs::exists(source_path(target))) {
        ADD_FAILURE() << page << " links to " << match.str();
      } else if (!anchor.empty()) {
        auto anchors = headings(target);
        std::ranges::transform(anchors, anchors.begin(), anchor_of);
        EXPECT_THAT(anchors, testing::Contains(anchor)) << page << " links to " << match.str();
      }
    }
  }
  EXPECT_GT(followed, 50U);
}

TEST(citation_test, each_page_is_linked_from_the_readme_and_from_the_list_of_pages) {
  const auto readme = text_of("README.md");
  const auto list = text_of("docs/README.md");
  for (const auto& page : files_below("docs")) {
    if (!is_page(page) || page == "docs/README.md") continue;
    EXPECT_THAT(readme, testing::HasSubstr("](" + page)) << page;
    EXPECT_THAT(list, testing::HasSubstr("](" + page.substr(std::string{"docs/"}.size()))) << page;
  }
}

TEST(citation_test, pages_name_source_files_that_exist) {
  static const std::regex name{R"(`([a-z0-9_/.-]*[a-z0-9_]+\.(?:cpp|hpp|sql|sh|md|txt))`)"};
  std::set<std::string> named;
  for (const auto& page : pages()) {
    const auto text = text_of(page);
    for (const auto& match : matches(text, name)) {
      if (!named.insert(match[1]).second) continue;
      EXPECT_TRUE(is_there(match[1])) << page << " names " << match[1];
    }
  }
  EXPECT_GT(named.size(), 100U);
}

// Checks the words of the form `class::member` or `class::member::part` whose class is rowlock's own.
TEST(citation_test, the_design_names_members_that_exist) {
  static const std::regex member{R"(`((?:[a-z_]+::)+[a-z_]+)`)"};
  static const std::regex word{R"([A-Za-z_][A-Za-z0-9_]*)"};
  std::set<std::string> words;
  for (const auto* folder : {"src", "include"}) {
    for (const auto& file : files_below(folder)) {
      const auto text = text_of(file);
      words.insert(std::sregex_token_iterator{text.begin(), text.end(), word}, {});
    }
  }
  const auto design = text_of("docs/design.md");
  const auto members = matches(design, member);
  EXPECT_GT(members.size(), 30U);
  for (const auto& match : members) {
    const std::string name = match[1];
    for (std::sregex_token_iterator part{name.begin(), name.end(), word};
         part != std::sregex_token_iterator{}; ++part) {
      EXPECT_TRUE(*part == "std" || words.contains(*part)) << name;
    }
  }
}

}  // namespace
}  // namespace rowlock::test
