#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/candid/binding.hpp"
#include "actors/management/device_interface.hpp"
#include "actors/management/operation_type.hpp"

namespace moxzi::actors::management {

/// What a run answers, and how long it took.
struct run_result {
  const device::run_reply* reply = nullptr;
  uint64_t nanos = 0;
};

/// A parameter that was read.
struct named_tensor {
  std::string name;
  device::tensor contents;
};

/// What the device is, and what its time costs.
struct priced_description {
  const device::device_description* description = nullptr;
  uint64_t cycles_per_ms = 0;
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

  candid::form<params_request> params;
  candid::form<optimizer_request> optimizer;
  /// Where the program is null, it stays so: the reader knows it already.
  candid::form<device::run_request> run;
  candid::form<device::read_request> read;
  candid::form<write_request> write;
  candid::form<device::delete_request> remove;
  candid::form<rename_request> rename;
  // Those below are only written.
  candid::form<run_result> result;
  candid::form<std::vector<named_tensor>> contents;
  candid::form<device::space_listing> listing;
  candid::form<priced_description> description;
  /// A run's program.
  candid::form<std::shared_ptr<const device::program>> program;

  /// The types and messages of all methods.
  candid::interface service;

private:
  void declare_params(candid::declarations& in, const candid::form<device::tensor>& contents,
                      const candid::form<device::dtype>& type);
  void declare_optimizer(candid::declarations& in,
                         const candid::form<device::optimizer_kind>& kind);
  void declare_program(candid::declarations& in);
  void declare_run(candid::declarations& in, const candid::form<device::tensor>& contents);
  void declare_contents(candid::declarations& in, const candid::form<device::tensor>& tensor);
  static candid::form<device::dtype> declare_dtype(candid::declarations& in);
  void declare_facts(candid::declarations& in, const candid::form<device::dtype>& type,
                     const candid::form<device::optimizer_kind>& kind);
  void declare_methods(candid::declarations& in) const;

  std::optional<operation_type> op_;
  std::string text_;
};

} // namespace moxzi::actors::management
