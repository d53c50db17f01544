#include "docs/page_programs.hpp"

#include "support/temporary_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <regex>
#include <stdexcept>

namespace rowlock::test {

namespace {

using program_list = std::vector<page_program>;
using package_list = std::vector<page_program::package>;

const std::vector<std::string> on_postgres{"postgres"};
const std::vector<std::string> on_mysql{"mariadb", "mysql"};
const std::vector<std::string> on_sqlite{"sqlite"};

std::string with_own_url(const std::string& text, const driver_address& own) {
  return with_own(text, "postgresql://app@db/shop", own.url);
}

std::string with_own_file(const std::string& text, const driver_address& own) {
  return with_own(text, "shop.db", own.file);
}

// The address as named arguments of a call in Python or Ruby. is: what stands between a name and its value.
std::string arguments_of(const driver_address& own, const std::string& is, const std::string& user) {
  return "host" + is + '"' + own.host + "\", port" + is + own.port + ", " + user + is + '"' + own.user +
         "\", password" + is + '"' + own.password + "\", database" + is + '"' + own.database + '"';
}

program_list python_programs() {
  const page_language python{"python", "Python", "bill.py", ""};
  const std::string program = "/usr/bin/python3";
  const auto needs = [&](const std::string& module) {
    return package_list{{"python3-" + module, program + " -c 'import " + module + "'"}};
  };
  const auto start = program + " bill.py";
  const auto with_words = [](const std::string& text, const driver_address& own) {
    return with_own(text, R"(host="db", port=3306, user="app", password="secret", database="shop")",
                    arguments_of(own, "=", "user"));
  };
  return {{python, on_postgres, "psycopg 2", needs("psycopg2"), start, with_own_url},
          {python, on_mysql, "PyMySQL", needs("pymysql"), start, with_words},
          {python, on_sqlite, "sqlite3", {}, start, with_own_file}};
}

program_list node_programs() {
  const page_language node{"node", "Node", "bill.js", ""};
  // Only Debian's own node looks for Debian's modules there.
  const std::string program = "NODE_PATH=/usr/share/nodejs:$NODE_PATH node";
  const package_list needs{{"nodejs", "command -v node"}, {"node-pg", program + " -e 'require(\"pg\")'"}};
  return {{node, on_postgres, "With pg", needs, program + " bill.js", with_own_url}};
}

// A program around the page's function.
std::string go_program(const std::string& function, const std::string& package, const std::string& driver,
                       const std::string& source) {
  return R"(package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"

	_ ")" +
         package + R"("
)

func bill(ctx context.Context, db *sql.DB) error {
)" + function +
         R"(}

func main() {
	db, err := sql.Open(")" +
         driver + R"(", ")" + source + R"(")
	if err == nil {
		err = bill(context.Background(), db)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
)";
}

program_list go_programs() {
  const std::string sources = "/usr/share/gocode";
  // Most of what is compiled is Go's own library, so the programs share it.
  static const temporary_folder compiled;
  const page_language go{"go", "Go", "bill.go",
                         "GO111MODULE=off GOFLAGS= GOPATH=" + sources + " GOCACHE='" +
                             compiled.path().string() + "' go build -o bill-of-go bill.go"};
  const auto needs = [&](const std::string& package, const std::string& folder) {
    return package_list{{"golang-go", "command -v go"},
                        {package, "test -d " + sources + "/src/github.com/" + folder}};
  };
  const std::string start = "./bill-of-go";
  const auto with_pq = [](const std::string& text, const driver_address& own) {
    return go_program(text, "github.com/lib/pq", "postgres",
                      "postgres://" + own.user + ':' + own.password + '@' + own.host + ':' + own.port + '/' +
                          own.database + "?sslmode=disable&search_path=" + own.schema);
  };
  const auto with_mysql = [](const std::string& text, const driver_address& own) {
    return go_program(
        text, "github.com/go-sql-driver/mysql", "mysql",
        own.user + ':' + own.password + "@tcp(" + own.host + ':' + own.port + ")/" + own.database);
  };
  const auto with_sqlite = [](const std::string& text, const driver_address& own) {
    return go_program(text, "github.com/mattn/go-sqlite3", "sqlite3", own.file + "?_txlock=immediate");
  };
  const auto pq = needs("golang-github-lib-pq-dev", "lib/pq");
  const auto mysql = needs("golang-github-go-sql-driver-mysql-dev", "go-sql-driver/mysql");
  const auto sqlite = needs("golang-github-mattn-go-sqlite3-dev", "mattn/go-sqlite3");
  return {{go, on_postgres, "database/sql", pq, start, with_pq},
          {go, on_mysql, "database/sql", mysql, start, with_mysql},
          {go, on_sqlite, "`?_txlock=immediate`", sqlite, start, with_sqlite}};
}

program_list ruby_programs() {
  const page_language ruby{"ruby", "Ruby", "bill.rb", ""};
  const auto needs = [](const std::string& module) {
    return package_list{{"ruby", "command -v ruby"},
                        {"ruby-" + module, "ruby -e 'require \"" + module + "\"'"}};
  };
  const std::string start = "ruby bill.rb";
  const auto with_words = [](const std::string& text, const driver_address& own) {
    return with_own(text, R"(host: "db", port: 3306, username: "app", password: "secret", database: "shop")",
                    arguments_of(own, ": ", "username"));
  };
  return {{ruby, on_postgres, "With pg", needs("pg"), start, with_own_url},
          {ruby, on_mysql, "With mysql2", needs("mysql2"), start, with_words},
          {ruby, on_sqlite, "With sqlite3", needs("sqlite3"), start, with_own_file}};
}

// A program around the page's statement.
std::string java_program(const std::string& text, const std::string& url, const driver_address& own) {
  return "import java.sql.*;\n\nclass Bill {\n"
         "  public static void main(String[] arguments) throws Exception {\n" +
         with_own(text, R"("jdbc:postgresql://db/shop", "app", password)",
                  '"' + url + "\", \"" + own.user + "\", \"" + own.password + '"') +
         "  }\n}\n";
}

program_list java_programs() {
  const page_language java{"java", "Java", "Bill.java", "javac Bill.java"};
  const std::string jars = "/usr/share/java/";
  const auto needs = [&](const std::string& package, const std::string& jar) {
    return package_list{{"default-jdk-headless", "command -v javac"}, {package, "test -e " + jars + jar}};
  };
  const auto start = [&](const std::string& jar) { return "java -cp .:" + jars + jar + " Bill"; };
  const auto with_postgres = [](const std::string& text, const driver_address& own) {
    const auto url = "jdbc:postgresql://" + own.host + ':' + own.port + '/' + own.database;
    return java_program(text, url + "?currentSchema=" + own.schema, own);
  };
  // MariaDB's driver connects to MySQL, too, and Debian has no other. MySQL sends the key that protects a password only
  // if the client asks for it.
  const auto with_mariadb = [](const std::string& text, const driver_address& own) {
    const auto url = "jdbc:mariadb://" + own.host + ':' + own.port + '/' + own.database;
    return java_program(text, url + "?allowPublicKeyRetrieval=true", own);
  };
  const auto with_sqlite = [](const std::string& text, const driver_address& own) {
    return java_program(text, "jdbc:sqlite:" + own.file + "?transaction_mode=IMMEDIATE", own);
  };
  const std::string postgres = "postgresql.jar";
  const std::string mariadb = "mariadb-java-client.jar";
  const std::string sqlite = "sqlite-jdbc.jar";
  return {
      {java, on_postgres, "JDBC", needs("libpostgresql-jdbc-java", postgres), start(postgres), with_postgres},
      {java, on_mysql, "JDBC", needs("libmariadb-java", mariadb), start(mariadb), with_mariadb},
      {java, on_sqlite, "`?transaction_mode=IMMEDIATE`", needs("libxerial-sqlite-jdbc-java", sqlite),
       start(sqlite), with_sqlite}};
}

std::string php_program(const std::string& text, const std::string& source, const driver_address& own) {
  return with_own(text, "'pgsql:host=db;dbname=shop', 'app', getenv('PGPASSWORD')",
                  '\'' + source + "', '" + own.user + "', '" + own.password + '\'');
}

program_list php_programs() {
  const page_language php{"php", "PHP", "bill.php", ""};
  const auto needs = [](const std::string& package, const std::string& extension) {
    return package_list{{"php-cli", "command -v php"}, {package, "php -m | grep -qx " + extension}};
  };
  const std::string start = "php bill.php";
  const auto with_pgsql = [](const std::string& text, const driver_address& own) {
    const auto source = "pgsql:host=" + own.host + ";port=" + own.port + ";dbname=" + own.database;
    return php_program(text, source, own);
  };
  const auto with_mysql = [](const std::string& text, const driver_address& own) {
    const auto source = "mysql:host=" + own.host + ";port=" + own.port + ";dbname=" + own.database;
    return php_program(text, source, own);
  };
  const auto with_sqlite = [](const std::string& text, const driver_address& own) {
    auto program = php_program(text, "sqlite:" + own.file, own);
    program = with_own(program, "$db->beginTransaction()", "$db->exec('BEGIN IMMEDIATE')");
    return with_own(program, "$db->commit()", "$db->exec('COMMIT')");
  };
  return {{php, on_postgres, "With PDO", needs("php-pgsql", "pdo_pgsql"), start, with_pgsql},
          {php, on_mysql, "With PDO", needs("php-mysql", "pdo_mysql"), start, with_mysql},
          {php, on_sqlite, "For SQLite run `BEGIN IMMEDIATE` and `COMMIT` with `exec`",
           needs("php-sqlite3", "pdo_sqlite"), start, with_sqlite}};
}

}  // namespace

driver_address::driver_address(const blank_database& db) : url{db.url()}, schema{db.settings().schema} {
  if (db.dialect() == "sqlite") {
    file = url.substr(std::string{"sqlite:"}.size());
    return;
  }
  static const std::regex form{R"([a-z]+://([^:@]*):?([^@]*)@([^:/]*):(\d+)/([a-z0-9_]*).*)"};
  std::smatch parts;
  if (!std::regex_match(url, parts, form)) throw std::runtime_error("an unusual URL: " + url);
  user = parts[1];
  password = parts[2];
  host = parts[3];
  port = parts[4];
  database = parts[5];
}

page_block page_program::block() const {
  for (auto& one : blocks_of("docs/other-languages.md")) {
    if (one.section == language.section && one.lead.find(lead) != std::string::npos) return one;
  }
  throw std::runtime_error("the page has no program in " + language.section + " below: " + lead);
}

std::string page_program::missing() const {
  const auto first = std::ranges::find_if(needs, [](const package& one) {
    return std::system(('(' + one.second + ") >/dev/null 2>&1").c_str()) != 0;
  });
  return first == needs.end() ? "" : first->first;
}

const std::vector<page_program>& page_programs() {
  static const auto all = [] {
    program_list programs;
    for (const auto& some : {python_programs(), node_programs(), go_programs(), ruby_programs(),
                             java_programs(), php_programs()}) {
      std::ranges::copy(some, std::back_inserter(programs));
    }
    return programs;
  }();
  return all;
}

std::string with_own(std::string text, const std::string& words, const std::string& own) {
  const auto at = text.find(words);
  if (at == std::string::npos) throw std::runtime_error("the page does not say: " + words);
  return text.replace(at, words.size(), own);
}

}  // namespace rowlock::test
