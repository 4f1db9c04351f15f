// What is told of a call while its arguments are written.

#include <gtest/gtest.h>

#include "shapescript/check/builtin_docs.hpp"
#include "tests/shapescript/lsp_support.hpp"

using namespace shapescript;
using shapescript::testing::client;
namespace json = boost::json;

namespace {

const std::string program =
  "dim D = 4\n\n"
  "model Mlp:\n    param w: [D D] = zeros()\n\n"
  "model Lin[A B]:\n    param w: [A B] = zeros()\n\n"
  "    fn forward(self, x: [b A]) -> [b B]:\n        return x @ self.w\n\n"
  "    fn scaled(self, x: [b A], by: float = 1.0) -> [b B]:\n        return x @ self.w\n\n"
  "data Digit:\n    img: [D]\n    label: [] Index[D]\n\n"
  "extern fn crop(x: [b D]) -> [b D] = \"augment.crop\"\n\n"
  "fn loss(m: Mlp, batch: [b] Digit) -> [] NonNeg:\n"
  "    return sum(batch.img @ m.w |> square)\n\n"
  "# A tensor of zeros.\nfn made(seed: int) -> [k]:\n    return zeros[k]\n\n"
  "fn f(mut m: Mlp, l: Lin[D D], data: Dataset[Digit], x: [n D], k: int) -> [n D]:\n    ";

// `LABEL @ PARAMETER` of each signature, the active one first.
std::vector<std::string> signatures(client& c, const std::string& line) {
  const auto answer = c.request("textDocument/signatureHelp", c.open_at(program + line + "\n"));
  std::vector<std::string> out;
  if (answer.is_null()) return out;
  EXPECT_EQ(answer.at("activeSignature"), 0);
  EXPECT_EQ(answer.at("activeParameter"), answer.at("signatures").at(0).at("activeParameter"));
  for (const auto& one : answer.at("signatures").as_array()) {
    const auto& parameters = one.at("parameters").as_array();
    const auto active = one.at("activeParameter").to_number<size_t>();
    out.push_back(std::string{one.at("label").as_string()} + " @ "
                  + (active < parameters.size()
                       ? std::string{parameters[active].at("label").as_string()}
                       : "none"));
  }
  return out;
}

std::string signature(const std::string& line) {
  client c;
  const auto all = signatures(c, line);
  return all.empty() ? "nothing" : all[0];
}

} // namespace

TEST(lsp_calls, every_builtin_has_its_sentence_and_forms) {
  for (const auto name : builtin_names()) {
    const auto text = documentation_of(name);
    EXPECT_TRUE(text.ends_with('.')) << name;
    for (const auto& form : forms_of(*find_builtin(name))) {
      EXPECT_TRUE(form.text.starts_with(name));
      size_t at = 0;
      for (const auto& one : form.parameters) {
        at = form.text.find(one.text, at);
        EXPECT_NE(at, std::string::npos) << form.text << ": " << one.text;
      }
    }
  }
  EXPECT_EQ(documentation_of("nothing"), "");
  EXPECT_EQ(signature_of(*find_builtin("update")), "update(mut m, mut opt, g, lr=?)");
  EXPECT_EQ(signature_of(*find_builtin("einsum")), "einsum(x, y: P, Q -> R)");
  EXPECT_EQ(signature_of(*find_builtin("causal")), "causal[n m]");
}

TEST(lsp_calls, methods_and_models_are_called_past_their_self) {
  EXPECT_EQ(signature("y = l.forward(^"), "fn forward(self, x: [b A]) -> [b B] @ x: [b A]");
  EXPECT_EQ(signature("y = l.scaled(x, ^"),
            "fn scaled(self, x: [b A], by: float = 1.0) -> [b B] @ by: float = 1.0");
  EXPECT_EQ(signature("y = x |> l.scaled(^"),
            "fn scaled(self, x: [b A], by: float = 1.0) -> [b B] @ by: float = 1.0")
    << "the model is before the dot, the value before the pipe";
  EXPECT_EQ(signature("y = l(^"), "fn forward(self, x: [b A]) -> [b B] @ x: [b A]")
    << "a model with `forward` can be called";
}

TEST(lsp_calls, a_model_is_made_from_a_seed) {
  EXPECT_EQ(signature("y = Mlp(^"), "Mlp(seed=?) @ seed=?");
  EXPECT_EQ(signature("y = Lin[3 4](^"), "Lin[A B](seed=?) @ seed=?");
  EXPECT_EQ(signature("y = Lin[3 4](seed=^"), "Lin[A B](seed=?) @ seed=?");
}

TEST(lsp_calls, functions_of_other_files_and_of_python_have_signatures) {
  client c{json::object{},
           {{"/tmp/lib.ss", "model M[A]:\n    param w: [A] = zeros()\n\n"
                            "fn twice(x: [n], by: int) -> [n]:\n    return x + x\n"}}};
  const auto at = [&](const std::string& line) {
    return c
      .request("textDocument/signatureHelp",
               c.open_at("import lib\n\nfn f(x: [n]) -> [n]:\n    return " + line))
      .at("signatures")
      .at(0)
      .at("label");
  };
  EXPECT_EQ(at("lib.twice(x, ^)\n"), "fn twice(x: [n], by: int) -> [n]");
  EXPECT_EQ(at("lib.M[3](^)\n"), "M[A](seed=?)");
  EXPECT_EQ(signature("y = crop(^"), "extern fn crop(x: [b D]) -> [b D] @ x: [b D]");
}

TEST(lsp_calls, the_parameter_follows_names_and_pipelines) {
  EXPECT_EQ(signature("y = loss(^"), "fn loss(m: Mlp, batch: [b] Digit) -> [] NonNeg @ m: Mlp");
  EXPECT_EQ(signature("y = loss(m, ^"),
            "fn loss(m: Mlp, batch: [b] Digit) -> [] NonNeg @ batch: [b] Digit");
  EXPECT_EQ(signature("y = loss(batch=k, ^"),
            "fn loss(m: Mlp, batch: [b] Digit) -> [] NonNeg @ m: Mlp")
    << "what is not given yet";
  EXPECT_EQ(signature("y = loss(batch=^"),
            "fn loss(m: Mlp, batch: [b] Digit) -> [] NonNeg @ batch: [b] Digit");
  EXPECT_EQ(signature("print(\"loss\", loss(m, ^"),
            "fn loss(m: Mlp, batch: [b] Digit) -> [] NonNeg @ batch: [b] Digit");
  EXPECT_EQ(signature("y = softmax(x, ^"), "softmax(x, over=) @ over=");
  EXPECT_EQ(signature("y = x |> softmax(^"), "softmax(x, over=) @ over=");
  EXPECT_EQ(signature("y = x |> matmul(^"), "matmul(x, w) @ w");
  const std::string loss = "cross_entropy(logits, label, over=, smoothing?, per_example?)";
  EXPECT_EQ(signature("y = cross_entropy(x, ^"), loss + " @ label");
  EXPECT_EQ(signature("y = cross_entropy(x, k, ^"), loss + " @ over=")
    << "it must be given, by its name";
  EXPECT_EQ(signature("y = cross_entropy(x, k, over=D, ^"), loss + " @ smoothing?");
  EXPECT_EQ(signature("y = cross_entropy(x, k, smoothing=0.1, ^"), loss + " @ over=");
  EXPECT_EQ(signature("print(1, 2, ^"), "print(..., sep=?, end=?) @ ...");
  EXPECT_EQ(signature("update(mut m, ^"), "update(mut m, mut opt, g, lr=?) @ mut opt");
  EXPECT_EQ(signature("y = relu((x, ^"), "relu(x) @ x") << "in brackets of its own";
  EXPECT_EQ(signature("y = x ^"), "nothing");
  EXPECT_EQ(signature("y = unknown(^"), "nothing");
}

TEST(lsp_calls, a_builtin_has_a_signature_for_each_way_to_call_it) {
  client c;
  using list = std::vector<std::string>;
  EXPECT_EQ(signatures(c, "y = data |> repeat(^"),
            (list{"repeat(data, n) @ n", "repeat(x: P -> Q) @ P -> Q"}));
  EXPECT_EQ(signatures(c, "y = repeat(x: n -> ^"),
            (list{"repeat(x: P -> Q) @ P -> Q", "repeat(data, n) @ data"}));
  EXPECT_EQ(signatures(c, "y = data |> map(^"),
            (list{"map(data, f) @ f", "map(f, xs, over=?) @ xs"}));
  EXPECT_EQ(signatures(c, "log(\"run.jsonl\", ^"),
            (list{"log(path, NAME=value) @ NAME=value", "log(x) @ none"}));
  EXPECT_EQ(signatures(c, "y = full[3](^"), list{"full[axes](v) @ v"});
  EXPECT_EQ(signatures(c, "y = normal(^"), list{"normal(std=?, mean=?, rng=?) @ std=?"});
  EXPECT_EQ(signatures(c, "y = normal[n](^"), list{"normal[axes](std=?, mean=?, rng=?) @ std=?"});
  EXPECT_EQ(signatures(c, "y = einsum(x, ^"), list{"einsum(x, y: P, Q -> R) @ x, y"});
  EXPECT_EQ(signatures(c, "y = einsum(x, x: n D, ^"), list{"einsum(x, y: P, Q -> R) @ P, Q -> R"});
  EXPECT_EQ(signatures(c, "y = x |> rearrange(^"), list{"rearrange(x: P -> Q) @ P -> Q"});
  EXPECT_EQ(signatures(c, "y = reduce(x: n D -> n, by=^"), list{"reduce(x: P -> Q, by=) @ by="});
  EXPECT_EQ(signatures(c, "y = pad(x, n=^"),
            list{"pad(x, AXIS=(before, after), value=?) @ AXIS=(before, after)"});
}

TEST(lsp_calls, what_is_passed_on_shows_what_it_takes) {
  EXPECT_EQ(signature("l, g = value_and_grad(loss, m, ^"),
            "value_and_grad(f, m: Mlp, batch: [b] Digit) @ batch: [b] Digit");
  EXPECT_EQ(signature("d = dataset(Digit, ^"), "dataset(record, img=, label=) @ img=");
  EXPECT_EQ(signature("d = dataset(Digit, img=x, ^"), "dataset(record, img=, label=) @ label=");
  EXPECT_EQ(signature("y = eval(loss)(^"),
            "fn loss(m: Mlp, batch: [b] Digit) -> [] NonNeg @ m: Mlp");
}

TEST(lsp_calls, a_signature_says_what_the_function_is_for) {
  client c;
  const auto answer = c.request("textDocument/signatureHelp", c.open_at(program + "y = made(^\n"));
  EXPECT_EQ(answer.at("signatures").at(0).at("documentation").at("value"),
            "A tensor of zeros.\n\nThe axes of its result alone are given by `k=`.");
}

TEST(lsp_calls, parameters_are_places_in_the_label_if_the_client_knows_them) {
  client c{json::object{
    {"textDocument",
     {{"signatureHelp",
       {{"signatureInformation", {{"parameterInformation", {{"labelOffsetSupport", true}}}}}}}}}}};
  const auto answer = c.request("textDocument/signatureHelp",
                                c.open_at("fn f(a: [n], n: int) -> [n]:\n    return f(^\n"));
  const auto& one = answer.at("signatures").at(0);
  const std::string label{one.at("label").as_string()};
  ASSERT_EQ(label, "fn f(a: [n], n: int) -> [n]");
  const auto part = [&](size_t i) {
    const auto& place = one.at("parameters").at(i).at("label");
    const auto begin = place.at(0).to_number<size_t>();
    return label.substr(begin, place.at(1).to_number<size_t>() - begin);
  };
  EXPECT_EQ(part(0), "a: [n]");
  EXPECT_EQ(part(1), "n: int");
}
