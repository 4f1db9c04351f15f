#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shapescript/check/builtins.hpp"
#include "shapescript/check/check.hpp"
#include "shapescript/check/check_parts.hpp"
#include "shapescript/check/locals.hpp"
#include "shapescript/check/typed_tree.hpp"
#include "shapescript/check/types.hpp"
#include "shapescript/syntax/tree.hpp"

namespace shapescript {

/// The checker's state; `check` is its one user. Each file `check_*.cpp` holds one concern.
class checker {
public:
  checker(const source& text, const program_loader& load, bool records);

  checked run();

private:
  // -- reports and text (check.cpp) --------------------------------------------
  static diagnostic make(const char* code, span where, std::string message, std::string label);
  diagnostic& deliver(diagnostic d);
  diagnostic& report(const char* code, span where, std::string message, std::string label = {});
  void mark(diagnostic& d, span where, std::string text);
  diagnostic& last_report();
  void points_to(const diagnostic& d, span declaration);
  /// The reports without those that only follow from others (check_consequences.cpp).
  std::vector<diagnostic> without_consequences();
  /// Enough is reported: nothing more is looked at.
  bool full() const {
    return out_.size() >= reports_max;
  }
  void explain_sizes(diagnostic& d, const std::vector<axis>& x, const std::vector<axis>& y = {});
  void suggest(diagnostic& d, span where, std::string_view name,
               const std::vector<std::string_view>& known);
  const module_info& mod() const {
    return *modules_[module_];
  }
  const tree& t() const {
    return modules_[module_]->program.program;
  }
  std::string_view text(span where) const {
    return modules_[module_]->text.text(where);
  }
  bool lenient() const {
    return modules_[module_]->lenient;
  }
  /// Whether the name may be declared in what could not be read of the file.
  bool doubtful(std::string_view name) const {
    return mod().program.nameless || mod().doubtful.contains(name);
  }
  /// Whether a part of the model could not be read: it may have any member.
  static bool unread(const model_info& model) {
    return model.decl != nullptr && model.decl->broken;
  }
  template <class T>
  std::string show(const T& what) const {
    return all_->show(what);
  }

  template <class T>
  std::string quote(const T& what) const {
    return quoted(show(what));
  }
  static std::string quoted(std::string seen); ///< in backquotes if it is program text
  std::pair<std::string, std::string> show_both(const type& x, const type& y) const;

  // -- where things come from (check_origins.cpp) ------------------------------
  std::optional<declared_place> declared_at(span where) const;
  bool origin(diagnostic& d, span where);
  void mark_operand(diagnostic& d, span where, const type& what);
  void mark_operands(diagnostic& d, const call_site& site);
  void explain_function(diagnostic& d, const function_info& f, size_t first);
  void mark_result(diagnostic* d, size_t part = no_part);
  void explain_members(diagnostic& d, const type& of);
  bool explain_unknown(diagnostic& d, span where);
  void explain_strangers(diagnostic& d, const std::vector<axis>& x, const std::vector<axis>& y);
  type wanted_type(const type& declared, const symbol_map& map, const call_site& site,
                   span where) const;
  span size_of_callee(const call_site& site, symbol size) const;
  void mark_fixed(diagnostic& d, const function_info& f, const type& declared,
                  const symbol_map& map, const call_site& site, span given);

  // -- what is recorded (check_record.cpp) -------------------------------------
  uint32_t new_name(name_kind kind, std::string_view name, span declared, const type& what = {},
                    uint32_t owner = no_index);
  void use(uint32_t name, span where, bool writes = false);
  void use_axis(span where, const size_scope* scope);
  void use_given_axis(span where);
  void use_entity(span where);
  void keep_type(expr_id id, const type& what);
  void finish_record();

  // -- files, names, devices (check_program.cpp) -------------------------------
  uint32_t load_module(const source& text);
  void import_file(uint32_t module, const import_decl& decl);
  std::string imported_path(const import_decl& decl) const;
  void report_imports();
  void collect_names(uint32_t module);
  void declare(std::string_view name, entity what);
  bool blockless(const entity& what) const;
  void resolve_dims();
  void resolve_dim(uint32_t index);
  void check_devices();
  void check_option(const devices_decl& line, const devices_option& option);
  const entity* find(std::string_view name) const;
  const entity* find_size(const dim_expr& node) const;
  bool has_syntax_error(const span& declaration) const;
  bool first_time(std::string_view name);

  // -- types (check_types.cpp) -------------------------------------------------
  std::optional<size_form> resolve_size(dim_id id, size_scope& scope, bool fresh);
  std::optional<size_form> size_known_as(std::string_view word) const;
  std::optional<size_form> size_of_name(span where, size_scope& scope, bool fresh);
  std::optional<size_form> size_in_file(span file, span name);
  std::optional<size_form> combine(const dim_expr& node, const size_form& x, const size_form& y);
  axis resolve_axis(dim_id id, size_scope& scope, bool fresh, bool& ok);
  type resolve(type_id id, size_scope& scope, bool fresh);
  type resolve_tensor(const type_expr& node, size_scope& scope, bool fresh);
  const entity* find_type(span file, span name);
  type resolve_named(const type_expr& node, size_scope& scope, bool fresh);
  type resolve_generic(const type_expr& node, size_scope& scope, bool fresh);
  bool follows(const type_expr& node, const element_name& element);
  bool apply_element(const element_name& element, type& out, size_scope& scope, bool fresh);
  type model_use(uint32_t index, const type_expr& node, size_scope& scope, bool fresh);
  symbol new_symbol(std::string name, span declared);

  // -- helps for what other languages write (check_habits.cpp) -------------------
  bool habit_of_element(diagnostic& d, span where);
  bool habit_of_type(diagnostic& d, const type_expr& node);
  bool habit_of_name(diagnostic& d, span where);
  void habit_of_member(diagnostic& d, const expr& node);
  bool habit_of_argument(diagnostic& d, const call_argument& given,
                         const std::vector<parameter_slot>& slots);

  // -- comparing (check_fit.cpp) -----------------------------------------------
  misfit fits(const type& have, const type& want) const;
  misfit fits_tensor(const type& have, const type& want) const;
  bool same(const type& x, const type& y) const;
  diagnostic* report_misfit(misfit what, const type& have, const type& want, span where,
                            const char* shape_code, const std::string& wanted_by);
  type replace(const type& what, const symbol_map& map) const;
  std::string replace_names(const axis& one, const symbol_map& map) const;

  // -- declarations (check_declarations.cpp) -----------------------------------
  void add_batch_norm();
  void resolve_records();
  void resolve_models();
  void resolve_model(uint32_t index);
  void resolve_member(model_info& owner, const model_member& member);
  void check_model_cycles();
  void check_initialisers();
  void check_initialiser(const member_info& member, const type& what, span where);
  void need_fixed(const std::string& name, const model_info& owner, size_t first);
  void resolve_function(uint32_t index);
  void resolve_parameters(function_info& f);
  bool check_extern(const function_info& f);

  // -- sizes that are known where they are used (check_needs.cpp) ---------------
  std::optional<size_form> divided(const size_form& x, const size_form& y, span where,
                                   std::string_view what);
  void need_positive(const size_form& size, span where);
  void check_needs();
  void hand_to_models();
  void check_model_use(const model_place& use);
  void spread_needs();
  bool fails(const size_need& need, const size_form& size) const;
  void report_call(const call_edge& edge, const size_need& need, uint32_t owner);
  diagnostic& report_need(const size_need& need, const symbol_sizes& sizes, span where,
                          std::string_view owner);

  // -- statements (check_statements.cpp) ---------------------------------------
  void check_body(uint32_t index);
  void check_unused();
  bool run_block(const block& body); ///< whether control reaches its end
  bool run_statement(const stmt& node);
  void run_return(const stmt& node);
  void check_return(const stmt& node);
  void run_assign(const stmt& node);
  void assign_target(const stmt& node, expr_id target, type value, span where,
                     std::vector<place> places);
  void assign_name(span name, type value, span where, uint32_t group, std::vector<place> places);
  void report_loop_type(std::string_view word, const local_state& state, const type& value,
                        span name);
  void assign_field(const stmt& node, expr_id id, const type& value, span where);
  type compound(const stmt& node, expr_id target, const type& value);
  void run_expression(const stmt& node);
  bool run_if(const stmt& node);
  bool run_while(const stmt& node);
  void run_for(const stmt& node);
  type element_of(const type& what, const expr& node);
  void condition(expr_id id);
  local_state join(std::string_view name, const local_state& x, const local_state& y,
                   bool report_types);
  void join_paths(const std::vector<path_changes>& paths, bool report_types);
  void report_condition(expr_id id, const type& what, std::string message, std::string help = {});
  static void explain_condition(diagnostic& d, bool controller, const std::string& number);
  std::optional<type> widened(const type& x, const type& y) const;
  bool is_widened(expr_id id) const;
  void report_widened(std::string_view name, const local_state& before, const type& after,
                      span value, span assigned);
  span assigned_later(std::string_view name, uint32_t place) const;

  // -- loops (check_loops.cpp) -------------------------------------------------
  struct trial;
  void assigned_in(const block& body, std::set<std::string_view>& out) const;
  void changed_in(expr_id id, std::set<std::string_view>& out) const;
  void leave_round(bool for_good);
  std::optional<std::vector<path_changes>> try_round(const block& body,
                                                     const std::function<void()>& begin_round);
  void settle(const stmt& node, const block& body, const std::function<void()>& begin_round);
  bool follow_rounds(const stmt& node, const block& body, const std::function<void()>& begin_round,
                     bool ends);
  void forget_known(const std::set<std::string_view>& names);

  // -- expressions (check_expressions.cpp) -------------------------------------
  type expression(expr_id id);
  type one_expression(expr_id id, bool typed, const std::string& wanted);
  type evaluate(const expr& node, expr_id id);
  void report_python(const expr& node, const type& what, const std::string& wanted);
  type literal(const expr& node);
  type list(const expr& node);
  type member(const expr& node);
  type member_of(const expr& node, const type& base);
  type member_of_model(const expr& node, const type& base);
  type unary(const expr& node);
  type cast(const expr& node);
  type range(const expr& node);
  type pipe(const expr& node);

  // -- names (check_names.cpp) -------------------------------------------------
  type name(const expr& node);
  type function_value(uint32_t index) const;
  type unknown_name(const expr& node);
  std::vector<std::string_view> names_for(name_place use) const;

  // -- operators (check_operators.cpp) -----------------------------------------
  type binary(const expr& node);
  type logic(const expr& node, const type& x, const type& y);
  type host_arithmetic(const expr& node, const type& x, const type& y);
  type elementwise(token_kind operation, const type& x, const type& y, span where,
                   span operation_at, span right);
  std::optional<std::vector<axis>> align(const type& x, const type& y, span operation_at,
                                         span right);
  std::optional<dtype> common_element(const type& x, const type& y, span right);
  type matmul(const type& x, const type& y, span where, span operation_at, span left, span right);
  type as_tensor(const type& t) const;

  // -- indexing (check_index.cpp) ----------------------------------------------
  type index(const expr& node);
  type index_tensor(const expr& node, const type& base);
  bool index_one(const expr& node, const argument& one, std::vector<axis>& axes, size_t& place,
                 std::vector<axis>& gathered);
  bool index_range(const expr& item, axis& over);
  std::optional<int64_t> from_end(const expr& item) const;
  bool index_name(const expr& base) const;
  bool in_file(const expr& node) const;
  static bool makes_tensors(std::string_view word);
  type construct(const expr& node);
  type construct_alone(const expr& node);
  type without_axes(std::string_view name, span where);
  std::optional<std::vector<axis>> axes_in_brackets(const expr& node);
  std::optional<size_form> size_from(expr_id id);
  std::optional<size_form> size_quotient(expr_id id);
  std::optional<size_form> size_operand(expr_id id);

  // -- calls (check_calls.cpp) -------------------------------------------------
  type call(const expr& node, expr_id id);
  type call_with(const expr& node, std::vector<call_argument> first);
  type dispatch(const expr& callee, call_site& site);
  expr_id id_of(const expr& node) const;
  type call_member(const expr& callee, call_site& site);
  type call_python(const expr& callee, const std::string& name, call_site& site);
  type call_function(uint32_t index, call_site& site, const type* self);
  type call_value(const type& callee, call_site& site);
  type make_model(const type& what, call_site& site);
  type bind_result(const function_info& f, symbol_map& map, call_site& site,
                   const std::vector<call_argument*>& extra);
  bool bind_argument(const function_info& f, const parameter_info& parameter, call_argument& given,
                     symbol_map& map, call_site& site);
  bool unify(const type& want, const type& have, symbol_map& map);
  void unify_all(const function_info& f, size_t bound, matched& m, symbol_map& map,
                 call_site& site);
  void note_calls(uint32_t callee, const symbol_map& map, const call_site& site, bool sound);
  matched match(const std::vector<parameter_slot>& slots, call_site& site, bool free_names,
                const std::string& callee, const function_info* f = nullptr);
  bool nothing_missing(const std::vector<parameter_slot>& slots, const matched& m, call_site& site,
                       const std::string& callee, const function_info* f);
  type& type_of(call_argument& one);

  // -- mut (check_mut.cpp) ----------------------------------------------------
  void check_mut(const parameter_info& parameter, const call_argument& given,
                 uint32_t callee = no_index);
  void check_self(const function_info& f, const call_site& site);
  bool changes_buffer(const type& base, std::string_view field,
                      const std::vector<place>& places) const;
  void report_buffer(span where);
  bool may_change(const std::vector<place>& places, expr_id id, span where, const std::string& how,
                  const char* label);
  void mark_second_name(diagnostic& d, expr_id id, expr_id other);
  void check_aliases(const call_site& site, bool self_is_mut = false);
  void leave_changed(const parameter_info& parameter, const type& want, const call_argument& given);
  void explain_not_mut(diagnostic& d, span declared);
  void report_mut_arguments();
  uint32_t new_root(uint32_t local = no_index);
  std::vector<place> places_of(expr_id id);
  std::vector<place> places_of_each(expr_id layers);
  std::vector<place> places_returned(const type& what, const call_site& site);
  bool holds(uint32_t model, uint32_t part) const;
  std::string_view root_of(expr_id id) const;

  // -- builtins (check_builtins.cpp and the files after it) --------------------
  type call_builtin(const builtin& what, call_site& site);
  type call_rule(const builtin& what, call_site& site, matched& m);
  type tensor_rule(const builtin& what, call_site& site, matched& m);
  type shape_rule(const builtin& what, call_site& site, matched& m);
  type training_rule(const builtin& what, call_site& site, matched& m);
  type host_rule(const builtin& what, call_site& site, matched& m);
  bool need(call_argument& one, bool fine, const char* code, std::string_view wanted);
  bool need_float(call_argument& one);
  bool need_bool(call_argument& one);
  bool need_number(call_argument* one);
  bool need_text(call_argument* one, std::string_view wanted = "a str");
  bool need_flag(call_argument* one);
  struct axis_word {
    std::string_view name;
    span where;
    std::optional<size_form> size; ///< of `lib.D`
  };
  std::vector<axis_word> axis_words(const call_argument& one);
  std::optional<size_t> axis_called(const axis_word& name, std::vector<axis>& axes);
  std::optional<std::vector<size_t>> axes_named(const call_argument& one, type& value);
  std::optional<size_t> one_axis(const call_argument& one, type& value);
  bool says_true(const call_argument* one) const;

  type unary_function(const builtin& what, matched& m);
  type binary_function(const builtin& what, call_site& site, matched& m);
  type clamp(matched& m);
  type vector_product(const builtin& what, call_site& site, matched& m);
  type reduction(const builtin& what, matched& m);
  type softmax(const builtin& what, matched& m);
  type affine_norm(const builtin& what, matched& m);
  bool check_groups(call_argument& groups, const std::vector<axis>& over);
  type batch_norm(matched& m);
  type masked_fill(call_site& site, matched& m);
  type where_rule(call_site& site, matched& m);
  type loss(const builtin& what, call_site& site, matched& m);
  type cross_entropy(matched& m);
  type loss_result(const type& value, const call_argument* per_example, std::optional<size_t> over);
  type attention(call_site& site, matched& m);
  bool fits_mask(call_argument& mask, type queries, const axis& keys);
  type one_hot(matched& m);

  type concat(matched& m);
  bool new_axis(span name, const std::vector<axis>& axes);
  type stack(matched& m);
  type padded(const builtin& what, call_site& site, matched& m);
  type topk(matched& m);
  type gather(const builtin& what, matched& m);
  bool picks_in_place(const type& x, size_t place, const call_argument& ids);
  type convolution(const builtin& what, call_site& site, matched& m);
  type pooling(const builtin& what, call_site& site, matched& m);
  type transpose(matched& m);
  std::optional<std::vector<size_t>> spatial(const call_argument* over, type& x, size_t count);
  std::optional<size_form> out_size(const size_form& n, const size_form& k, const size_form& pad,
                                    const size_form& stride, span where);
  std::optional<size_form> size_argument(call_argument* one, int64_t otherwise);

  type gradient_rule(const builtin& what, call_site& site, matched& m);
  type update_rule(matched& m);
  type optimizer_rule(const builtin& what, matched& m);
  type call_step(const builtin& what, call_argument& function, call_site& step);
  type scan_rule(call_site& site, matched& m);
  type map_rule(call_site& site, matched& m);
  uint32_t function_argument(call_argument& one);

  type host_function(const builtin& what, matched& m);
  type dataset_rule(call_site& site, matched& m);
  type source_rule(const builtin& what, matched& m);
  type stage_rule(const builtin& what, call_site& site, call_argument& data);
  bool known_last(const call_argument& one);
  uint32_t record_argument(call_argument& one);
  void device_work(span where, std::string_view what, std::string_view number = {});
  void host_work(span where, std::string_view what);
  void crossing(span where, std::string_view operation, const axis& over, std::string label = {});

  // -- what is known of values (check_known.cpp) -------------------------------
  void keep_prob(type& out, const pattern_call& call, const type& operand) const;
  static refinement known_reduced(std::string_view by, const type& of);
  type initialiser(const builtin& what, matched& m);

  // -- patterns (check_patterns.cpp) -------------------------------------------
  void define_rest(const pattern_call& call);
  type call_pattern(const builtin& what, call_site& site);
  struct atom;
  struct pattern_state;
  std::optional<std::vector<type>> pattern_operands(const builtin& what, call_site& site,
                                                    pattern_state& state, std::string& by);
  bool read_source(pattern_state& state, const pattern& written, const type& operand);
  bool read_group(pattern_state& state, const pattern_item& group, const axis& over);
  std::string say_axis(const axis& one) const;
  bool first_in_source(const pattern_state& state, const pattern_item& item);
  bool check_given(const builtin& what, const pattern_state& state, const pattern_call& call);
  bool read_name(pattern_state& state, const pattern_item& item, const type& operand, size_t place);
  std::optional<size_form> known_size(const pattern_state& state, span name) const;
  bool define(pattern_state& state, span name, const size_form& size);
  type rearranged(const builtin& what, pattern_state& state, const pattern_call& call,
                  const type& operand);
  type einsum(pattern_state& state, const pattern_call& call, const std::vector<type>& operands);
  bool result_axes(pattern_state& state, const pattern& written, std::vector<axis>& axes,
                   bool may_invent, const char* missing_code);
  std::optional<size_form> result_atom(pattern_state& state, const pattern_item& item,
                                       bool may_invent, const char* missing_code);

  // -- placement (check_placement.cpp) -----------------------------------------
  void place_functions();
  void report_host_in_device();
  void report_device_in_host();
  void report_recursion();
  void spread_batches();
  bool of_batches(const size_form& size) const;
  std::optional<span> place_in_program(const size_form& size) const;
  void mark_split(diagnostic& d, const size_form& size);
  void settle_late_reports();
  void answer_crossing(const split_question& question, const axis& over);
  void answer_questions();
  void answer_imported(const function_info& f, const split_question& question, const axis& over,
                       span where);
  void answer_python(const function_info& f, const split_question& question, const axis& over,
                     bool batch);
  std::string count_devices() const;

  const program_loader& load_;
  const bool records_all_; // types and uses are kept
  std::shared_ptr<typed_tree> all_ = std::make_shared<typed_tree>();
  std::vector<std::unique_ptr<module_info>>& modules_ = all_->modules;
  std::map<std::string, uint32_t> loaded_;
  uint32_t module_ = 0;
  std::vector<diagnostic> out_;
  std::vector<report_context> contexts_;  // of each of those
  uint32_t callee_ = no_index;            // the function whose call is compared with its head
  std::map<uint32_t, diagnostic> broken_; // the first mistake of each imported file
  diagnostic hidden_;                     // reports that are not wanted go here
  call_argument hidden_argument_;
  std::vector<dim_info>& dims_ = all_->dims;
  std::vector<record_info>& records_ = all_->records;
  std::vector<model_info>& models_ = all_->models;
  std::vector<function_info>& functions_ = all_->functions;
  std::vector<symbol_info>& symbols_ = all_->symbols;
  std::vector<axis_binding> bindings_;
  std::vector<device_root> device_roots_;
  std::vector<model_place> model_uses_;
  size_t devices_ = 1;
  std::set<std::string, std::less<>> split_dims_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> aliases_; // by function: names of axes

  // The function whose body is checked.
  uint32_t function_ = no_index;
  size_scope* scope_ = nullptr;
  std::vector<size_need>* needs_ = nullptr; // of the model or function at hand
  std::vector<local_info> local_infos_;
  std::map<std::string_view, uint32_t> local_names_; // the last variable of each name
  locals locals_;
  int loops_ = 0;
  std::optional<std::pair<expr_id, type>> done_; // evaluated for what it is the left part of
  bool typed_cast_ = false;                      // the expression at hand is the operand of a cast
  bool next_is_argument_ = false;                // the next expression is one
  bool is_argument_ = false; // the expression at hand was given straight as an argument
  bool has_errors_here_ = false;
  std::set<std::string_view> unknown_here_; // names reported in the function
  bool unread_ = false;                     // a part of the function could not be read
  bool nameless_here_ = false;              // and that part gave a value to some local
  std::set<std::pair<uint32_t, std::string_view>> reported_; // names, by file
  std::set<std::string> reported_sizes_;                     // models that cannot be
  uint32_t next_group_ = 1;
  std::vector<loop_end> loop_ends_;
  std::map<std::string_view, std::pair<span, span>> widenings_; // by name: the value, the target
  int trials_ = 0;                         // rounds of loops that are tried: nothing is reported
  std::vector<uint32_t> roots_;            // the parameter that each root is, if it is one
  std::vector<place> returned_;            // what the model that a call gives may be
  span returned_by_;                       // the call
  std::vector<uint32_t> crossed_;          // the questions that the expression at hand depends on
  name_place name_is_ = name_place::value; // the next expression, if it is a name
  bool of_layer_ = false;                  // the type at hand is that of a layer
  std::string wanted_; // the type that the place of the next expression asks for
  std::vector<late_report> late_;
  std::vector<mut_argument> mut_arguments_;
};

} // namespace shapescript
