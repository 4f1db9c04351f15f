#include "device/optimizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "device/errors.hpp"

namespace moxzi::device {

namespace {

constexpr std::array<std::string_view, 10> kind_names{
  "adamw", "adam", "sgd", "nesterov", "rmsprop", "adagrad", "lion", "adamax", "adafactor", "muon"};

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

/// How far step `taken` is from the end of the warm-up to the end of all, 0 to 1.
double progress(uint64_t taken, uint64_t warmup, uint64_t total) noexcept {
  if (taken >= total) return 1;
  return static_cast<double>(taken - warmup) / static_cast<double>(total - warmup);
}

double warmed(double lr, uint64_t taken, uint64_t warmup) noexcept {
  return lr * (static_cast<double>(taken + 1) / static_cast<double>(warmup));
}

/// Adafactor keeps the mean squares of rows and of columns.
state_layout factors_of(const shape& dims) {
  if (dims.rank() < 2) return {{"variance", dims}};
  shape rows = dims, columns = dims;
  rows[dims.rank() - 1] = 1;
  columns[dims.rank() - 2] = 1;
  return {{"row_var", rows}, {"col_var", columns}};
}

bool divides_by_eps(optimizer_kind kind) noexcept {
  switch (kind) {
    case optimizer_kind::sgd:
    case optimizer_kind::nesterov:
    case optimizer_kind::lion:
      return false;
    default:
      return true;
  }
}

/// Both schedules with an end.
template <class Schedule>
result<void> check_end(const Schedule& s, double lr, std::string_view name,
                       const std::string& where) {
  if (s.total < s.warmup)
    return fail_at(device_errc::invalid_value, where,
                   "schedule {}: total = {}; no less than warmup = {} wanted", name, s.total,
                   s.warmup);
  if (s.floor >= 0 && s.floor <= lr) return {};
  return fail_at(device_errc::invalid_value, where, "schedule {}: floor = {}; 0 to lr = {} wanted",
                 name, s.floor, lr);
}

result<void> check_schedule(const optimizer_spec& how, const std::string& where) {
  if (auto cosine = std::get_if<schedule_cosine>(&how.schedule))
    return check_end(*cosine, how.lr, "cosine", where);
  if (auto linear = std::get_if<schedule_linear>(&how.schedule))
    return check_end(*linear, how.lr, "linear", where);
  auto step = std::get_if<schedule_step>(&how.schedule);
  if (!step) return {};
  if (step->every == 0)
    return fail_at(device_errc::invalid_value, where,
                   "schedule step: every = 0; at least 1 wanted");
  if (step->gamma >= 0 && step->gamma <= 1) return {};
  return fail_at(device_errc::invalid_value, where, "schedule step: gamma = {}; 0 to 1 wanted",
                 step->gamma);
}

} // namespace

optimizer_kind kind_for(optimizer_kind asked, const shape& dims) noexcept {
  if (asked == optimizer_kind::muon && dims.rank() != 2) return optimizer_kind::adamw;
  return asked;
}

state_layout layout_of(const optimizer_spec& how, const shape& dims) {
  switch (kind_for(how.kind, dims)) {
    case optimizer_kind::adamw:
    case optimizer_kind::adam:
      if (how.amsgrad) return {{"exp_avg", dims}, {"exp_avg_sq", dims}, {"max_exp_avg_sq", dims}};
      return {{"exp_avg", dims}, {"exp_avg_sq", dims}};
    case optimizer_kind::sgd:
    case optimizer_kind::nesterov:
      if (how.beta1 == 0) return {};
      return {{"momentum_buffer", dims}};
    case optimizer_kind::rmsprop:
      if (how.beta1 == 0) return {{"square_avg", dims}};
      return {{"square_avg", dims}, {"quotient_momentum", dims}};
    case optimizer_kind::adagrad:
      return {{"sum", dims}};
    case optimizer_kind::lion:
      return {{"exp_avg", dims}};
    case optimizer_kind::adamax:
      return {{"exp_avg", dims}, {"exp_inf", dims}};
    case optimizer_kind::adafactor:
      return factors_of(dims);
    case optimizer_kind::muon:
      return {{"momentum_average", dims}};
  }
  return {};
}

double scheduled_lr(const optimizer_spec& how, uint64_t taken) noexcept {
  const auto lr = how.lr;
  return std::visit(overloaded{[lr](const schedule_constant&) { return lr; },
                               [&](const schedule_warmup& s) {
                                 return taken < s.steps ? warmed(lr, taken, s.steps) : lr;
                               },
                               [&](const schedule_cosine& s) {
                                 if (taken < s.warmup) return warmed(lr, taken, s.warmup);
                                 auto angle = std::numbers::pi * progress(taken, s.warmup, s.total);
                                 return s.floor + (lr - s.floor) * (0.5 + 0.5 * std::cos(angle));
                               },
                               [&](const schedule_linear& s) {
                                 if (taken < s.warmup) return warmed(lr, taken, s.warmup);
                                 return lr + (s.floor - lr) * progress(taken, s.warmup, s.total);
                               },
                               [&](const schedule_step& s) {
                                 return lr
                                        * std::pow(s.gamma, static_cast<double>(taken / s.every));
                               }},
                    how.schedule);
}

std::string_view name_of(optimizer_kind kind) noexcept {
  return kind_names[static_cast<size_t>(kind)];
}

result<void> check_settings(const optimizer_spec& how, const std::string& where) {
  auto refuse = [&](std::string_view name, double value, std::string_view wanted) {
    return fail_at(device_errc::invalid_value, where, "{} = {}; {} wanted", name, value, wanted);
  };
  if (!std::isfinite(how.lr) || how.lr < 0) return refuse("lr", how.lr, "finite and not negative");
  if (!(how.beta1 >= 0 && how.beta1 < 1)) return refuse("beta1", how.beta1, "0 <= beta1 < 1");
  if (!(how.beta2 >= 0 && how.beta2 < 1)) return refuse("beta2", how.beta2, "0 <= beta2 < 1");
  if (!std::isfinite(how.eps) || how.eps < 0 || (how.eps == 0 && divides_by_eps(how.kind)))
    return refuse("eps", how.eps,
                  divides_by_eps(how.kind) ? "finite, above 0" : "finite and not negative");
  if (!std::isfinite(how.weight_decay) || how.weight_decay < 0)
    return refuse("weight_decay", how.weight_decay, "finite and not negative");
  if (how.amsgrad && how.kind != optimizer_kind::adamw && how.kind != optimizer_kind::adam)
    return fail_at(device_errc::invalid_value, where, "amsgrad with {}; adamw or adam wanted",
                   name_of(how.kind));
  return check_schedule(how, where);
}

} // namespace moxzi::device
