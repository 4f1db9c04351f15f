#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "actors/candid/errc.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// A piece of Candid text.
struct token {
  enum class form : uint8_t {
    end,
    name,   ///< an identifier or keyword
    text,   ///< a quoted string; `bytes` is what it means
    number, ///< as written, without sign
    symbol, ///< one of `( ) { } [ ] ; , : = . + - ->` and, in conformance files, `== != !:`
  };
  form kind = form::end;
  std::string_view raw;
  std::string bytes;
  size_t offset = 0;
};

/// Splits Candid text (values, `.did` files, conformance files) into tokens; `//` comments and
/// nested `/* */` are passed over. One token of look-ahead and one more on request.
///
/// After a failure every token is `end`, so that parsers need look at `failed()` only where they
/// build something.
class lexer {
public:
  /// `text` must outlive the lexer.
  explicit lexer(std::string_view text);

  const token& peek() const noexcept {
    return current_;
  }
  /// The token after `peek()`.
  const token& peek_second();
  /// Takes the current token.
  token take();
  /// Takes the token if it is this symbol or name.
  bool accept(std::string_view raw);
  /// The same, or fails saying what was expected.
  bool expect(std::string_view raw);
  bool is(std::string_view raw) const noexcept {
    return current_.raw == raw && current_.kind != token::form::text
           && current_.kind != token::form::end;
  }

  /// Notes a failure at a place; the first one counts. Returns false.
  bool fail_at(size_t offset, std::string_view reason);
  /// All of the text.
  std::string_view text() const noexcept {
    return text_;
  }
  /// "expected WHAT, got …" at the current token.
  bool fail_expected(std::string_view what);
  bool failed() const noexcept {
    return failed_;
  }
  error failure() const {
    return error_;
  }
  /// Guards recursion in parsers: false (and a failure) when nested too deeply.
  bool deeper();
  void shallower() noexcept {
    --depth_;
  }

private:
  token scan();
  bool skip_blanks();
  bool skip_block_comment();
  void scan_number(token& out);
  bool scan_text(token& out);
  bool scan_escape(std::string& out);

  std::string_view text_;
  size_t at_ = 0;
  token current_;
  token second_;
  bool has_second_ = false;
  bool failed_ = false;
  int depth_ = 0;
  error error_;
};

/// An error at a place of a text: `line:column: reason`.
error error_at(std::string_view text, size_t offset, candid_errc code, std::string_view reason);

/// True if the name can be written without quotes: an identifier that is no keyword.
bool is_plain_name(std::string_view name) noexcept;

/// The text in quotes, escaped so that it reads back the same; bytes that are not UTF-8 as `\hh`.
std::string quoted(std::string_view text);

/// The bytes in quotes: printable ASCII as it is, all else as `\hh`.
std::string quoted_bytes(std::string_view bytes);

} // namespace moxzi::candid
