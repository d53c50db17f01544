// The journal in MariaDB or MySQL, if rowlock was built with their store.
#pragma once

#include "journal.hpp"

std::unique_ptr<journal> open_mysql_journal(const std::string& url);
