#include "shapescript/check/builtins.hpp"

#include <algorithm>

namespace shapescript {

namespace {

using r = refinement;

constexpr builtin table[] = {
  {"abs", "x", rule::unary, work::device, r::nonneg},
  {"accumulate", "g1 g2", rule::accumulate, work::device},
  {"adam", "m lr? beta1? beta2? eps? weight_decay?", rule::optimizer, work::host},
  {"adamw", "m lr? beta1? beta2? eps? weight_decay?", rule::optimizer, work::host},
  {"all", "x @over?", rule::reduction, work::device},
  {"any", "x @over?", rule::reduction, work::device},
  {"arange", "n", rule::construct, work::none},
  {"argmax", "x @over", rule::reduction, work::device},
  {"argmin", "x @over", rule::reduction, work::device},
  {"assert", "cond message?", rule::host, work::host},
  {"attention", "q k v mask? scale?", rule::attention, work::device},
  {"avg_pool", "x @over? size stride? pad?", rule::pooling, work::device},
  {"batch_norm", "x !bn @over", rule::batch_norm, work::device},
  {"batches", "data n last?", rule::stage, work::host},
  {"bce", "p y per_example?", rule::loss, work::device, r::nonneg},
  {"bce_logits", "x y per_example?", rule::loss, work::device, r::nonneg},
  {"bernoulli", "p", rule::construct, work::none},
  {"causal", "", rule::construct, work::none},
  {"ceil", "x", rule::unary, work::device},
  {"checkpoint", "f", rule::wrap, work::none},
  {"clamp", "x :lo? :hi?", rule::clamp, work::device},
  {"clip_norm", "g max?", rule::clip_norm, work::device},
  {"concat", "* @along", rule::join, work::device},
  {"constant", "v", rule::schedule, work::none},
  {"conv1d", "x w @over? stride? pad? groups?", rule::convolution, work::device},
  {"conv2d", "x w @over? stride? pad? groups?", rule::convolution, work::device},
  {"cos", "x", rule::unary, work::device},
  {"cosine", "step total warmup? peak floor?", rule::schedule, work::none},
  {"count", "x @over?", rule::reduction, work::device},
  {"cross_entropy", "logits label @over smoothing? per_example?", rule::cross_entropy, work::device,
   r::nonneg},
  {"csv", "path record", rule::source, work::host},
  {"cumsum", "x @over", rule::keep_axis, work::device},
  {"dataset", "record", rule::dataset, work::host},
  {"diag", "x", rule::diagonal, work::device},
  {"dot", "a b", rule::dot, work::device},
  {"dropout", "x p? :rng?", rule::dropout, work::device},
  {"einsum", "*", rule::pattern, work::device},
  {"elu", "x", rule::unary, work::device},
  {"env", "name", rule::host, work::host},
  {"erf", "x", rule::unary, work::device},
  {"eval", "f", rule::wrap, work::none},
  {"exp", "x", rule::unary, work::device, r::pos},
  {"expand", "x", rule::expand, work::device},
  {"expm1", "x", rule::unary, work::device},
  {"eye", "", rule::construct, work::none},
  {"flip", "x @over", rule::keep_axis, work::device},
  {"float", "x", rule::convert, work::none},
  {"floor", "x", rule::unary, work::device},
  {"from_fn", "f record", rule::source, work::host},
  {"full", "v", rule::construct, work::none},
  {"gather", "x ids @over", rule::gather, work::device},
  {"gelu", "x approx?", rule::unary, work::device},
  {"grad", "f x *", rule::gradient, work::device},
  {"group_norm", "x @over :groups gain? bias? eps?", rule::affine_norm, work::device},
  {"huber", "x y delta? per_example?", rule::loss, work::device, r::nonneg},
  {"idx", "path", rule::source, work::host},
  {"index_select", "x ids @over", rule::gather, work::device},
  {"int", "x", rule::convert, work::none},
  {"isinf", "x", rule::predicate, work::device},
  {"isnan", "x", rule::predicate, work::device},
  {"kaiming", "", rule::initialise, work::none},
  {"kl", "p q @over per_example?", rule::loss, work::device, r::nonneg},
  {"l1", "x y per_example?", rule::loss, work::device, r::nonneg},
  {"last", "n", rule::host, work::none},
  {"layer_norm", "x @over gain? bias? eps?", rule::affine_norm, work::device},
  {"leaky_relu", "x slope?", rule::unary, work::device},
  {"len", "data", rule::host, work::host},
  {"linear", "step total warmup? peak floor?", rule::schedule, work::none},
  {"linspace", "lo hi", rule::construct, work::none},
  {"lion", "m lr? beta1? beta2? weight_decay?", rule::optimizer, work::host},
  {"load", "!m path", rule::host, work::host},
  {"load_tensors", "path record", rule::source, work::host},
  {"log", "x", rule::unary, work::device},
  {"log1p", "x", rule::unary, work::device},
  {"log_softmax", "x @over", rule::softmax, work::device},
  {"logsumexp", "x @over?", rule::reduction, work::device},
  {"map", "f xs @over?", rule::map, work::none},
  {"masked_fill", "x mask v", rule::masked_fill, work::device},
  {"matmul", "x w", rule::matmul, work::device},
  {"max", "x @over?", rule::reduction, work::device},
  {"max_pool", "x @over? size stride? pad?", rule::pooling, work::device},
  {"maximum", "a b", rule::binary, work::device},
  {"mean", "x @over?", rule::reduction, work::device},
  {"merge", "x", rule::pattern, work::device},
  {"min", "x @over?", rule::reduction, work::device},
  {"minimum", "a b", rule::binary, work::device},
  {"mse", "x y per_example?", rule::loss, work::device, r::nonneg},
  {"neg", "x", rule::unary, work::device},
  {"nll", "log_p label @over per_example?", rule::cross_entropy, work::device, r::nonneg},
  {"norm", "x @over?", rule::reduction, work::device, r::nonneg},
  {"normal", ":std? :mean? :rng?", rule::initialise, work::none},
  {"npy", "path *", rule::source, work::host},
  {"one_hot", "ids n", rule::one_hot, work::device, r::unit},
  {"ones", "", rule::initialise, work::none},
  {"orthogonal", "", rule::initialise, work::none},
  {"outer", "a b", rule::outer, work::device},
  {"pad", "x :value?", rule::padded, work::device},
  {"pow", "a b", rule::binary, work::device},
  {"prefetch", "data n", rule::stage, work::host},
  {"print", "* :sep? :end?", rule::print, work::host},
  {"prod", "x @over?", rule::reduction, work::device},
  {"progress", "iter label?", rule::host, work::host},
  {"randint", "lo hi", rule::construct, work::none},
  {"range", "n", rule::host, work::none},
  {"rearrange", "x", rule::pattern, work::device},
  {"reduce", "x :by", rule::pattern, work::device},
  {"relu", "x", rule::unary, work::device, r::nonneg},
  {"repeat", "data n", rule::repeat, work::host},
  {"rms_norm", "x @over gain? eps?", rule::affine_norm, work::device},
  {"roll", "x @over :by", rule::keep_axis, work::device},
  {"round", "x", rule::unary, work::device},
  {"rsqrt", "x", rule::unary, work::device},
  {"save", "m path", rule::host, work::host},
  {"save_checkpoint", "path m opt :step?", rule::host, work::host},
  {"scale", "x k", rule::scale, work::device},
  {"scan", "f init xs @over", rule::scan, work::device},
  {"scatter_add", "x ids values @over", rule::gather, work::device},
  {"seed", "n", rule::host, work::host},
  {"sgd", "m lr momentum? nesterov? weight_decay?", rule::optimizer, work::host},
  {"shift", "x :fill?", rule::padded, work::device},
  {"shuffle", "data :seed?", rule::stage, work::host},
  {"sigmoid", "x", rule::unary, work::device, r::unit},
  {"sign", "x", rule::unary, work::device},
  {"silu", "x", rule::unary, work::device},
  {"sin", "x", rule::unary, work::device},
  {"skip", "data n", rule::stage, work::host},
  {"softmax", "x @over", rule::softmax, work::device, r::prob},
  {"softplus", "x", rule::unary, work::device, r::pos},
  {"sort", "x @over", rule::keep_axis, work::device},
  {"split", "x", rule::pattern, work::device},
  {"sqrt", "x", rule::unary, work::device},
  {"square", "x", rule::unary, work::device, r::nonneg},
  {"stack", "* @new", rule::join, work::device},
  {"std", "x @over? correction?", rule::reduction, work::device, r::nonneg},
  {"stop_gradient", "x", rule::stop_gradient, work::device},
  {"str", "x", rule::convert, work::none},
  {"sum", "x @over?", rule::reduction, work::device},
  {"take", "data n", rule::stage, work::host},
  {"tanh", "x", rule::unary, work::device},
  {"time", "", rule::host, work::host},
  {"topk", "x @over :k", rule::topk, work::device},
  {"trace", "x", rule::trace, work::device},
  {"transpose", "x a b", rule::transpose, work::device},
  {"tril", "x", rule::diagonal, work::device},
  {"triu", "x", rule::diagonal, work::device},
  {"uniform", "lo? hi? :rng?", rule::initialise, work::none},
  {"update", "!m !opt g :lr?", rule::update, work::device},
  {"upsample", "x @over? :by", rule::pooling, work::device},
  {"value_and_grad", "f x *", rule::gradient, work::device},
  {"var", "x @over? correction?", rule::reduction, work::device, r::nonneg},
  {"where", "c a b", rule::where, work::device},
  {"window", "w", rule::construct, work::none},
  {"xavier", "", rule::initialise, work::none},
  {"zeros", "", rule::initialise, work::none},
};

} // namespace

const builtin* find_builtin(std::string_view name) noexcept {
  const auto place =
    std::lower_bound(std::begin(table), std::end(table), name,
                     [](const builtin& one, std::string_view x) { return one.name < x; });
  return place != std::end(table) && place->name == name ? place : nullptr;
}

std::vector<std::string_view> builtin_names() {
  std::vector<std::string_view> names;
  for (const auto& one : table) names.push_back(one.name);
  return names;
}

bool fills_params(const builtin& what) noexcept {
  return what.how == rule::initialise || what.name == "full" || what.name == "eye";
}

std::vector<parameter_slot> slots_of(const builtin& what) {
  std::vector<parameter_slot> slots;
  auto rest = what.parameters;
  while (!rest.empty()) {
    auto word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    parameter_slot one;
    if (word == "*") {
      one.variadic = true;
    } else {
      const char sign = word.front();
      one.by_name = sign == ':' || sign == '@';
      one.axes = sign == '@';
      one.is_mut = sign == '!';
      if (one.by_name || one.is_mut) word.remove_prefix(1);
      one.optional = word.back() == '?';
      if (one.optional) word.remove_suffix(1);
      one.name = word;
    }
    slots.push_back(one);
  }
  return slots;
}

} // namespace shapescript
