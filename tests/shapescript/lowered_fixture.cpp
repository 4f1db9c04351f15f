#include "tests/shapescript/lowered_fixture.hpp"

#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/ops/table.hpp"

namespace shapescript::testing {

namespace device = moxzi::device;

uint32_t function_named(const typed_tree& program, std::string_view name) {
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    const auto& f = program.functions[i];
    if (program.modules[f.module]->text.text(f.decl->name) == name) return i;
  }
  ADD_FAILURE() << "no function " << name;
  return 0;
}

std::string operations(const lowered& code) {
  std::string out;
  for (const auto& one : code.code.code)
    out += (out.empty() ? "" : " ") + std::string{device::find_row(one.id)->name};
  return out;
}

void expect_checked_alike(const lowered& code, const std::string& name) {
  for (const auto& one : code.code.code)
    if (device::find_row(one.id)->internal()) return;
  device::environment where;
  where.inputs = code.code.where.inputs;
  for (const auto& one : code.parameters) where.parameters[one.name] = one.what;
  for (const auto& one : code.buffers) where.values[one.name] = one.what;
  const auto checked = device::check(code.code.code, where);
  ASSERT_TRUE(checked) << name << ": " << checked.error().message;
  ASSERT_EQ(checked->types.size(), code.code.types.size());
  for (size_t i = 0; i < checked->types.size(); ++i)
    EXPECT_EQ(checked->types[i].text(), code.code.types[i].text()) << name << " register " << i;
}

namespace {

device::tensor zeros(const device::input_type& what) {
  device::tensor out;
  out.type = what.type;
  for (const auto size : what.dims.sizes()) out.dims.push_back(static_cast<uint32_t>(size));
  const auto bytes = static_cast<size_t>(what.dims.elements()) * device::size_of(what.type);
  out.data = moxzi::byte_string(bytes, '\0');
  return out;
}

} // namespace

void expect_runs(device::device_core& on, const lowered& code, const std::string& name) {
  std::vector<device::param_spec> params;
  for (const auto& one : code.parameters) {
    device::param_spec spec;
    spec.name = one.name;
    for (const auto size : one.what.dims.sizes()) spec.dims.push_back(static_cast<uint32_t>(size));
    spec.init = device::init_constant{0};
    params.push_back(std::move(spec));
  }
  const auto defined = on.define_params("", params);
  ASSERT_TRUE(defined) << name << ": " << defined.error().message;
  device::run_request request;
  for (const auto& one : code.inputs) request.inputs.push_back(zeros(one.what));
  request.code = std::make_shared<const device::program>(code.code.code);
  request.tensors = code.results;
  const auto reply = on.run("", request);
  ASSERT_TRUE(reply) << name << ": " << reply.error().message;
  ASSERT_EQ(reply->tensors.size(), code.results.size());
  for (size_t i = 0; i < reply->tensors.size(); ++i) {
    const auto& wanted = code.code.types[code.results[i]].dims;
    const auto& dims = reply->tensors[i].dims;
    EXPECT_TRUE(std::equal(dims.begin(), dims.end(), wanted.sizes().begin(), wanted.sizes().end()))
      << name;
  }
  on.drop_space("");
}

// -- random programs -----------------------------------------------------------

namespace {

// Axes by their names; `b` is symbolic, the others are dims.
struct variable {
  std::string name;
  std::vector<std::string> axes;
};

class program_writer {
public:
  explicit program_writer(uint32_t seed) : random_(seed) {
    // nop
  }

  std::string write() {
    std::string out;
    for (const auto* name : {"D", "E", "H"}) {
      sizes_[name] = 1 + below(6);
      out += fmt::format("dim {} = {}\n", name, sizes_[name]);
    }
    out += "\nmodel M:\n    param w: [D E] = normal(std=0.02)\n    param v: [E D] = zeros()\n"
           "    param g: [E] = ones()\n    param u: [H D E] = zeros()\n\n"
           "fn f(m: M, x: [b D], y: [b H E]) -> ";
    all_ = {{"x", {"b", "D"}},   {"y", {"b", "H", "E"}}, {"m.w", {"D", "E"}},
            {"m.v", {"E", "D"}}, {"m.g", {"E"}},         {"m.u", {"H", "D", "E"}}};
    std::string body;
    const auto lines = 2 + below(10);
    for (int i = 0; i < lines; ++i) body += line();
    const auto& last = all_.back();
    // What is used nowhere would be a warning, not an error.
    return out
           + fmt::format("[{}]:\n{}    return {}\n", fmt::join(last.axes, " "), body, last.name);
  }

private:
  int below(int n) {
    return static_cast<int>(random_() % static_cast<uint32_t>(n));
  }

  const variable& any() {
    return all_[static_cast<size_t>(below(static_cast<int>(all_.size())))];
  }

  std::string bind(const std::string& written, std::vector<std::string> axes) {
    const auto name = fmt::format("t{}", next_++);
    all_.push_back({name, std::move(axes)});
    return fmt::format("    {} = {}\n", name, written);
  }

  // A variable whose axes are, in order, among the other's.
  const variable& among(const variable& other) {
    std::vector<const variable*> fits;
    for (const auto& one : all_) {
      size_t at = 0;
      for (const auto& axis : other.axes)
        if (at < one.axes.size() && one.axes[at] == axis) ++at;
      if (at == one.axes.size()) fits.push_back(&one);
    }
    return *fits[static_cast<size_t>(below(static_cast<int>(fits.size())))];
  }

  std::string axis_of(const variable& x) {
    return x.axes[static_cast<size_t>(below(static_cast<int>(x.axes.size())))];
  }

  std::string line() {
    const auto x = any();
    const auto kind = below(14);
    const bool axes = !x.axes.empty();
    if (kind == 0 && axes) return reduced(x);
    if (kind == 1 && axes) {
      static constexpr const char* along[] = {"softmax",  "log_softmax", "cumsum", "layer_norm",
                                              "rms_norm", "flip",        "sort"};
      return bind(fmt::format("{}({}, over={})", along[below(7)], x.name, axis_of(x)), x.axes);
    }
    if (kind == 2 && x.axes.size() >= 2) return rearranged(x);
    if (kind == 3 && axes) return product(x);
    if (kind == 4) return contracted(x);
    if (kind == 5)
      return bind(fmt::format("where({0} > 0.5, {0}, {1})", x.name, among(x).name), x.axes);
    if (kind == 6) return bind(fmt::format("{} |> clamp(lo=0.0) |> scale(2)", x.name), x.axes);
    if (kind == 7 && axes && x.axes[0] != "b") {
      auto rest = x.axes;
      rest.erase(rest.begin());
      return bind(fmt::format("{}[0]", x.name), std::move(rest));
    }
    if (kind == 8 && x.axes.size() >= 2) {
      auto out = x.axes;
      std::swap(out[0], out.back());
      return bind(fmt::format("transpose({}, {}, {})", x.name, x.axes[0], x.axes.back()), out);
    }
    if (kind <= 10) {
      static constexpr const char* functions[] = {"relu",     "gelu", "exp",    "tanh",
                                                  "sigmoid",  "abs",  "square", "silu",
                                                  "softplus", "sin",  "erf"};
      return bind(fmt::format("{} |> {}", x.name, functions[below(11)]), x.axes);
    }
    static constexpr const char* signs[] = {"+", "-", "*", "/"};
    const auto& y = among(x);
    const bool swapped = below(2) == 1;
    return bind(fmt::format("{} {} {}", swapped ? y.name : x.name, signs[below(4)],
                            swapped ? x.name : y.name),
                x.axes);
  }

  std::string reduced(const variable& x) {
    static constexpr const char* how[] = {"sum", "mean", "max", "min", "logsumexp", "var", "norm"};
    const auto axis = axis_of(x);
    auto rest = x.axes;
    rest.erase(std::find(rest.begin(), rest.end(), axis));
    return bind(fmt::format("{}({}, over={})", how[below(7)], x.name, axis), std::move(rest));
  }

  std::string rearranged(const variable& x) {
    auto out = x.axes;
    std::shuffle(out.begin(), out.end(), random_);
    return bind(
      fmt::format("{} |> rearrange({} -> {})", x.name, fmt::join(x.axes, " "), fmt::join(out, " ")),
      out);
  }

  std::string product(const variable& x) {
    if (x.axes.back() != "D" && x.axes.back() != "E") return line();
    auto out = x.axes;
    const bool wide = out.back() == "D";
    if (std::count(out.begin(), out.end(), wide ? "E" : "D") > 0) return line();
    out.back() = wide ? "E" : "D";
    return bind(fmt::format("{} @ m.{}", x.name, wide ? "w" : "v"), std::move(out));
  }

  // Two variables summed over an axis that both have.
  std::string contracted(const variable& x) {
    const auto y = any();
    std::vector<std::string> out = x.axes, shared;
    for (const auto& axis : y.axes) {
      if (std::find(x.axes.begin(), x.axes.end(), axis) == x.axes.end())
        out.push_back(axis);
      else
        shared.push_back(axis);
    }
    if (shared.empty() || x.axes.empty() || y.axes.empty()) return line();
    out.erase(std::find(out.begin(), out.end(), shared[0]));
    if (out.empty()) return line();
    return bind(fmt::format("einsum({}, {}: {}, {} -> {})", x.name, y.name, fmt::join(x.axes, " "),
                            fmt::join(y.axes, " "), fmt::join(out, " ")),
                out);
  }

  std::mt19937 random_;
  std::map<std::string, int> sizes_;
  std::vector<variable> all_;
  int next_ = 0;
};

} // namespace

std::string random_program(uint32_t seed) {
  return program_writer{seed}.write();
}

} // namespace shapescript::testing
