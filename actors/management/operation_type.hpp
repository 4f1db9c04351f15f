#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "actors/candid/binding.hpp"
#include "device/ops/table.hpp"
#include "device/program.hpp"

namespace moxzi::actors::management {

/// The interface's `Op`: a variant with a tag for every public row of the table of operations, made
/// by walking it, and what turns the variant's values into operations and back.
class operation_type {
public:
  /// Defines `Op` and the types that its fields need. The rows must outlive this.
  operation_type(candid::declarations& in, std::span<const device::row> rows);

  /// The variant.
  candid::type_ref type() const noexcept {
    return type_;
  }
  /// The operation of a value of the type. Registers and numbers are taken as they are: whether
  /// they make sense is for the check of the program.
  device::operation read(candid::value from) const;
  /// Appends an operation that has a public row and what the row says.
  void append(writer& out, const device::operation& from) const;

private:
  /// How the payload of a tag is laid out.
  struct tag {
    const device::row* row = nullptr;
    /// The row's fields in the order of the record's. For the bare form, the only one.
    std::vector<uint32_t> order;
    /// For fields of plain tags: the positions, in the variant, of the tags as declared.
    std::vector<std::vector<uint32_t>> choices;

    bool is_bare() const noexcept {
      return row->form == device::field_form::bare;
    }
  };
  candid::typed_text field_type(candid::declarations& in, const device::field& f);
  candid::typed_text plain_type(candid::declarations& in, const device::field& f);
  candid::typed_text payload_type(candid::declarations& in, const device::row& row);
  void lay_out(const candid::type_table& types, candid::type_ref payload, tag& to) const;

  candid::type_ref type_;
  std::vector<tag> tags_; ///< by position in the variant
};

} // namespace moxzi::actors::management
