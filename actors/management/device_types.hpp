#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/candid/interface.hpp"
#include "actors/management/device_interface.hpp"
#include "actors/management/forms.hpp"
#include "actors/management/operation_type.hpp"

namespace moxzi::actors::management {

/// What a run answers, and how long it took.
struct run_result {
  const device::run_reply* reply = nullptr;
  uint64_t nanos = 0;
};

/// The device's methods, declared. This and the table of operations are the only places that say
/// what the interface has: its text, the decoding and the encoding follow from them.
class device_types {
public:
  /// The one that all share; made at the first use.
  static const device_types& get();

  device_types();

  /// The text of `device/interface.did`.
  std::string text() const;

  form<params_request> params;
  form<optimizer_request> optimizer;
  /// Where the program is null, it stays so: the reader knows it already.
  form<device::run_request> run;
  /// Is only written.
  form<run_result> result;
  /// A run's program.
  form<std::shared_ptr<const device::program>> program;

  /// The types and messages of all methods.
  candid::interface service;

private:
  struct method {
    std::string name;
    std::string note;
    candid::type_ref argument;
    std::string argument_text;
    std::optional<candid::type_ref> result;
    std::string result_text;
  };

  void declare_params(declarations& in, const form<device::tensor>& contents);
  void declare_optimizer(declarations& in);
  void declare_program(declarations& in);
  void declare_run(declarations& in, const form<device::tensor>& contents);
  void declare_service(declarations& in);

  std::optional<operation_type> op_;
  std::string text_;
};

} // namespace moxzi::actors::management
