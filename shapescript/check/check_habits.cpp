#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

// What people who know other languages write for what has another name here.

namespace shapescript {

namespace {

struct other_name {
  std::string_view theirs;
  std::string_view ours;
};

constexpr other_name elements[] = {{"float32", "f32"},
                                   {"float", "f32"},
                                   {"single", "f32"},
                                   {"float64", "f64"},
                                   {"double", "f64"},
                                   {"float16", "f16"},
                                   {"half", "f16"},
                                   {"bfloat16", "bf16"},
                                   {"int8", "i8"},
                                   {"int16", "i16"},
                                   {"int32", "i32"},
                                   {"int64", "i64"},
                                   {"long", "i64"},
                                   {"int", "i64"},
                                   {"uint8", "u8"},
                                   {"byte", "u8"},
                                   {"boolean", "bool"},
                                   {"NonNegative", "NonNeg"},
                                   {"Nonnegative", "NonNeg"},
                                   {"Positive", "Pos"},
                                   {"Probability", "Prob"}};

constexpr other_name types[] = {{"string", "str"},  {"String", "str"},   {"integer", "int"},
                                {"Int", "int"},     {"boolean", "bool"}, {"Bool", "bool"},
                                {"Float", "float"}, {"double", "float"}};

constexpr other_name values[] = {{"True", "true"}, {"False", "false"}, {"this", "self"}};

// What is a method elsewhere, and how it is done here.
constexpr other_name methods[] = {
  {"T", "two axes are swapped by `transpose(x, a, b)`, or by a pattern"},
  {"t", "two axes are swapped by `transpose(x, a, b)`, or by a pattern"},
  {"permute", "axes are reordered by a pattern: `rearrange(x: a b -> b a)`"},
  {"view", "a shape is changed by a pattern: `rearrange(x: a b -> (a b))`"},
  {"reshape", "a shape is changed by a pattern: `rearrange(x: a b -> (a b))`"},
  {"flatten", "a shape is changed by a pattern: `rearrange(x: a b -> (a b))`"},
  {"unsqueeze", "an axis of size 1 comes from a pattern: `rearrange(x: a -> a 1)`"},
  {"squeeze", "an axis of size 1 goes by a pattern: `rearrange(x: a 1 -> a)`"},
  {"shape", "the sizes of a tensor are the names of its axes"},
  {"size", "the sizes of a tensor are the names of its axes"},
  {"item", "a tensor without axes becomes a number by `float(x)`"},
  {"backward", "gradients are what `value_and_grad(f, m, ...)` gives"},
  {"to", "the `devices` line says where tensors live"},
  {"cuda", "the `devices` line says where tensors live"}};

template <size_t N>
std::string_view lookup(const other_name (&all)[N], std::string_view theirs) {
  const auto found =
    std::find_if(std::begin(all), std::end(all), [&](const auto& x) { return x.theirs == theirs; });
  return found == std::end(all) ? std::string_view{} : found->ours;
}

void say(diagnostic& d, span where, std::string_view ours) {
  d.help.push_back(fmt::format("here it is `{}`", ours));
  d.fixes.push_back({where, std::string{ours}});
}

} // namespace

bool checker::habit_of_element(diagnostic& d, span where) {
  const auto ours = lookup(elements, text(where));
  if (!ours.empty()) say(d, where, ours);
  return !ours.empty();
}

bool checker::habit_of_type(diagnostic& d, const type_expr& node) {
  const auto name = text(node.name);
  const auto element = dtype_named(name) ? name : lookup(elements, name);
  if (node.has_arguments) {
    // `int[3]`: the axes come first.
    const auto whole = text(node.where);
    const auto axes = whole.substr(std::min(whole.find('['), whole.size()));
    if (element.empty() || axes.empty()) return false;
    say(d, node.where, element == "f32" ? std::string{axes} : fmt::format("{} {}", axes, element));
    return true;
  }
  if (const auto ours = lookup(types, name); !ours.empty()) {
    say(d, node.where, ours);
    return true;
  }
  if (!element.empty()) {
    say(d, node.where, fmt::format("[] {}", element));
    return true;
  }
  if (name != "Tensor" && name != "tensor" && name != "Array" && name != "ndarray") return false;
  d.help.push_back("the type of a tensor is its axes, as in `[b D]`");
  return true;
}

bool checker::habit_of_name(diagnostic& d, span where) {
  const auto name = text(where);
  if (const auto ours = lookup(values, name); !ours.empty()) {
    say(d, where, ours);
    return true;
  }
  if (name == "None" || name == "null" || name == "nil") {
    d.help.push_back("there is no such value: give one of the type, or another function");
    return true;
  }
  if (name == "torch" || name == "np" || name == "numpy" || name == "jnp" || name == "nn") {
    d.help.push_back("tensor functions are built in, as in `relu(x)`");
    return true;
  }
  return false;
}

// `x.sum()` of a tensor.
void checker::habit_of_member(diagnostic& d, const expr& node) {
  const auto word = text(node.name);
  if (const auto how = lookup(methods, word); !how.empty()) {
    d.help.emplace_back(how);
    return;
  }
  if (find_builtin(word) == nullptr) return;
  const auto left = t().at(node.left).where;
  d.help.push_back(fmt::format("`{0}` is a function: `{0}(x)`, or `x |> {0}`", word));
  const auto after = mod().text.text().substr(node.name.end);
  if (!after.starts_with("(")) return;
  d.fixes.push_back({{left.begin, left.begin}, fmt::format("{}(", word)});
  d.fixes.push_back({{left.end, node.name.end + 1}, after.starts_with("()") ? "" : ", "});
}

// `axis=1`, `dim=n` and `keepdims=true`.
bool checker::habit_of_argument(diagnostic& d, const call_argument& given,
                                const std::vector<parameter_slot>& slots) {
  const auto has_over = std::any_of(slots.begin(), slots.end(),
                                    [](const parameter_slot& x) { return x.name == "over"; });
  if (!has_over) return false;
  if (given.name == span{}) {
    d.help.push_back("an axis is given by its name: `over=n`");
    const bool named = given.value != expr_id::none && t().at(given.value).kind == expr_kind::name;
    if (named && scope_ != nullptr
        && (scope_->contains(text(given.where)) || find(text(given.where)) != nullptr))
      d.fixes.push_back({{given.where.begin, given.where.begin}, "over="});
    return true;
  }
  const auto word = text(given.name);
  if (word == "axis" || word == "dim" || word == "axes" || word == "dims") {
    const bool number =
      given.value != expr_id::none && t().at(given.value).kind == expr_kind::integer;
    d.help.push_back("an axis is given by its name: `over=n`");
    if (!number) d.fixes.push_back({given.name, "over"});
    return true;
  }
  if (word != "keepdim" && word != "keepdims") return false;
  d.help.push_back("axes meet by their names, so that none needs to be kept");
  return true;
}

} // namespace shapescript
