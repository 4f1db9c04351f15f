#include "shapescript/syntax/token.hpp"

namespace shapescript {

std::string_view describe(token_kind kind) noexcept {
  switch (kind) {
#define TOKEN(name, text)                                                                          \
  case token_kind::name:                                                                           \
    return text;
#include "shapescript/syntax/token.def"
#undef TOKEN
  }
  return "a token";
}

} // namespace shapescript
