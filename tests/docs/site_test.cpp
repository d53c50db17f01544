// The inputs from which scripts/site builds the site are complete. The site itself is not built here.
#include "docs/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;

// The pages of the repository, and those that the site makes from other files.
std::set<std::string> pages_of_the_site() {
  std::set<std::string> found{
      "docs/rowlock.1.md",       "examples.md",  "api/index.md",       "api/annotated.md",
      "api/namespacerowlock.md", "api/files.md", "packaging/README.md"};
  for (const auto& entry : fs::directory_iterator{source_path("")}) {
    if (entry.path().extension() == ".md") found.insert(entry.path().filename().string());
  }
  for (const auto& entry : fs::recursive_directory_iterator{source_path("docs")}) {
    const auto path = fs::relative(entry.path(), source_path("")).string();
    if (path.ends_with(".md")) found.insert(path);
  }
  return found;
}

TEST(site_test, each_page_has_one_place_in_the_navigation) {
  static const std::regex place{R"(^ +- [^:]+: (\S+)$)"};
  std::multiset<std::string> places;
  bool navigation = false;
  for (const auto& line : lines_of("docs/site/mkdocs.yml")) {
    navigation = navigation || line == "nav:";
    std::smatch match;
    if (navigation && std::regex_match(line, match, place)) places.insert(match[1]);
  }
  const auto pages = pages_of_the_site();
  EXPECT_GT(pages.size(), 20U);
  EXPECT_EQ(places, (std::multiset<std::string>{pages.begin(), pages.end()}));
}

// mkdocs refuses any other link.
TEST(site_test, each_link_to_a_page_leads_to_one_of_the_site) {
  static const std::regex link{R"(\]\(([^)#:\s]+\.md)[)#])"};
  const auto pages = pages_of_the_site();
  std::size_t links = 0;
  for (const auto& page : pages) {
    if (!fs::exists(source_path(page))) continue;
    const auto text = text_of(page);
    for (std::sregex_iterator match{text.begin(), text.end(), link}, end; match != end; ++match) {
      const auto to = (fs::path{page}.parent_path() / (*match)[1].str()).lexically_normal();
      EXPECT_TRUE(pages.contains(to.string())) << page << " links to " << to;
      ++links;
    }
  }
  EXPECT_GT(links, 100U);
}

// The words between quotation marks of a diagram's text, and of a label in <>.
std::vector<std::string> words_in(const std::string& text) {
  static const std::regex label{R"re(label="([^"]+)"|<b>([a-z]+)</b>)re"};
  static const std::regex word{R"([a-z_]{3,})"};
  std::vector<std::string> found;
  for (std::sregex_iterator match{text.begin(), text.end(), label}, end; match != end; ++match) {
    const auto words =
        std::regex_replace((*match)[1].str() + ' ' + (*match)[2].str(), std::regex{R"(\\[nl])"}, " ");
    for (std::sregex_iterator one{words.begin(), words.end(), word}; one != end; ++one)
      found.push_back(one->str());
  }
  return found;
}

TEST(site_test, each_diagram_is_drawn_and_shown) {
  std::string pages;
  for (const auto& page : pages_of_the_site()) {
    if (fs::exists(source_path(page))) pages += text_of(page);
  }
  std::size_t diagrams = 0;
  for (const auto& entry : fs::directory_iterator{source_path("docs/diagrams")}) {
    const auto name = entry.path().stem().string();
    EXPECT_THAT(pages, testing::HasSubstr("diagrams/" + name + ".svg)"));
    if (entry.path().extension() == ".svg") continue;
    const auto picture = text_of("docs/diagrams/" + name + ".svg");
    const auto words = words_in(text_of("docs/diagrams/" + entry.path().filename().string()));
    EXPECT_GT(words.size(), 10U) << name;
    for (const auto& word : words) {
      EXPECT_THAT(picture, testing::HasSubstr(word))
          << "docs/diagrams/" << name << ".svg is old: run scripts/site";
    }
    ++diagrams;
  }
  EXPECT_EQ(diagrams, 3U);
  EXPECT_THAT(pages, testing::Not(testing::HasSubstr("```mermaid")))
      << "the site cannot draw it without a network";
}

}  // namespace
}  // namespace rowlock::test
