#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "shapescript/syntax/tree.hpp"

namespace shapescript {

/// The parser's state; `parse` is its one user. A member function reads one rule of the grammar and
/// stands after it. After a mistake `failed_` is set and every token looks like `bad`, so that all
/// rules end at once; the nearest statement or declaration then skips to its end.
class parser {
public:
  parser(const source& text, lexed tokens);

  parsed run();

private:
  // -- tokens (parser.cpp) -----------------------------------------------------
  token_kind peek(size_t ahead = 0) const;
  const token& here() const;
  std::string_view word(size_t ahead = 0) const;
  bool is_word(std::string_view text, size_t ahead = 0) const;
  bool accept(token_kind kind);
  span expect(token_kind kind, std::string_view what = {});
  span previous() const;
  void fail(const char* code, span where, std::string message, std::string label);
  bool lexer_saw_it() const;
  void unexpected(std::string_view wanted);

  // -- helps for what other languages write (parse_habits.cpp) ------------------
  void give_help(std::string_view wanted);
  void help_at_word(size_t first);
  void help_at_colon(size_t first, std::string_view wanted);
  void help_at_operator(size_t first, std::string_view wanted);
  void help_commas(std::string_view what);
  void commas_in_patterns(size_t first, bool of_einsum);
  void help(std::string text);
  void mend(span where, std::string text);
  std::string_view text_at(size_t at) const;
  bool is_kind(size_t at, token_kind kind) const;
  bool touch(size_t at) const;
  /// At the token before which a comma was forgotten.
  void comma_missing(std::string_view why);

  // -- going on after a mistake (parser.cpp, parse_recovery.cpp) ------------------
  bool too_deep(int depth, span where);
  /// Skips to the line's end, and over an indented block that follows.
  void recover();
  /// Skips the lines up to one that begins a declaration, or a member: a run of strange lines is
  /// one mistake.
  void recover_run(bool in_model);
  bool begins_declaration() const;
  bool begins_declaration_at(size_t at) const;
  bool is_head_without_block(size_t first) const;
  void skip_block();
  bool begins_member() const;
  bool begins_statement() const;
  /// Whether a method stands here.
  bool takes_self() const;
  /// The model or record before may have members that stand elsewhere.
  void doubt_last_block();
  /// Removes what only follows from an earlier mistake.
  void drop_consequences();
  void skip_statement();
  size_t line_of(size_t at) const;
  void unread(stmt_id id, size_t first);
  /// The names that the tokens from there to here assign, each at the start of its line.
  std::vector<span> assigned_since(size_t first) const;
  /// Ends a logical line.
  void end_of_line(std::string_view wanted);
  /// Enters an indented block after `:`; false if there is none. `failed_` is not set if all that
  /// is missing is the indentation, so that what stands there can be read as the block.
  bool open_block(std::string_view owner);
  void close_block();

  // -- declarations (parse_declarations.cpp) -----------------------------------
  void declaration();
  void devices();
  devices_option option();
  void dim();
  void data();
  void field(data_decl& owner);
  void model();
  void members(model_decl& owner);
  void member(model_decl& owner);
  void layer(model_decl& owner);
  void import();
  void function(bool is_extern, model_decl* owner);
  function_decl signature(bool is_extern);
  parameter one_parameter();

  // -- types and sizes (parse_types.cpp) ---------------------------------------
  type_id type();
  type_id tensor_type();
  type_id named_type();
  type_id function_type();
  element_name element();
  std::vector<dim_id> dims_until_bracket();
  dim_id dim_sum();
  dim_id dim_product();
  dim_id dim_atom();
  dim_id dim_binary(dim_id left, token_kind operation, dim_id right);

  // -- statements (parse_statements.cpp) ---------------------------------------
  block statements();
  block statements_not_indented();
  stmt_id statement();
  stmt simple();
  stmt assignment_or_expression();
  stmt for_loop();
  stmt while_loop();
  stmt if_chain();
  block block_of(std::string_view owner);
  stmt_id keep(stmt node);

  // -- expressions (parse_expressions.cpp) -------------------------------------
  expr_id expression();
  expr_id range();
  expr_id binary(int level);
  expr_id cast();
  expr_id unary();
  expr_id postfix();
  expr_id atom();
  expr_id number_or_text(expr_kind kind);
  expr_id in_parens();
  expr_id list();
  expr_id call(expr_id callee);
  expr_id index(expr_id base);
  expr_id join(expr_kind kind, token_kind operation, span name, expr_id left, expr_id right);
  expr_id keep(expr node);
  std::vector<expr_id> expressions();
  argument one_argument(bool may_mut);
  pattern_call patterns();
  pattern one_pattern();
  std::vector<pattern_item> pattern_items(bool inner);

  const source& text_;
  std::vector<token> tokens_;
  size_t at_ = 0;
  bool failed_ = false;
  bool branch_lost_ = false; // the last `if` ended because the block of a branch was missing
  bool in_list_ = false;     // straight in the brackets of a list of values
  bool quiet_ = false;       // the line before could not be read either
  std::vector<uint32_t> lexer_reports_; // where the lexer reported something
  std::map<dim_id, span> bracketed_;    // sizes in brackets, with those
  int depth_ = 0;                       // brackets, operators and blocks around the token at hand
  parsed out_;
};

} // namespace shapescript
