// The locks and the parties that the tests of single decisions share.
#pragma once

#include "client/lock_views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {

using testing::ElementsAre;
using testing::IsEmpty;

inline const party me;
inline const party first;
inline const party second;
inline const party third;

}  // namespace rowlock::test
