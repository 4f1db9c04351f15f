#pragma once

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/candid/errc.hpp"
#include "actors/candid/json.hpp"
#include "actors/candid/json_source.hpp"

namespace moxzi::candid {

/// Reads JSON at a type. Functions return false after a failure; the path is put together on the
/// way out, innermost first.
class json_reader {
public:
  /// A probing reader keeps no elements and fields: it only finds out whether the JSON is refused.
  json_reader(const type_table& types, std::string_view json, const json_options& options,
              bool is_probe = false)
      : types_(types), in_(json), options_(options), steps_(steps_for(json.size())),
        is_probe_(is_probe) {
    // nop
  }

  /// Values that JSON of this size may have.
  static size_t steps_for(size_t bytes) {
    return std::min(bytes * limits::candid_steps_per_byte + limits::candid_steps_free,
                    limits::json_values_max);
  }

  result<std::vector<value>> arguments(std::span<const type_ref> items);

private:
  bool read(type_ref type, value& out);
  bool read_composite(type_ref type, value& out);
  bool whole(type_ref type, value& out);
  bool fixed(type_ref type, integer n, value& out);
  template <class T>
  bool floating(type_ref type, value& out);
  bool principal_value(type_ref type, value& out);
  bool func(type_ref type, value& out);
  bool blob(type_ref type, value& out);
  bool blob_object(type_ref type, value& out);
  /// An array, each element read by `one`.
  template <class One>
  bool elements(One one) {
    if (!in_.enter()) return false;
    in_.accept('[');
    if (!in_.accept(']')) {
      size_t index = 0;
      do {
        if (!one()) return under(false, fmt::format("[{}]", index));
        ++index;
      } while (in_.accept(','));
      if (!in_.expect(']')) return false;
    }
    in_.leave();
    return true;
  }
  bool vec(type_ref type, value& out);
  bool map(type_ref type, value& out);
  bool opt(type_ref type, value& out);
  bool wrapped(type_ref element, value& out);
  bool tuple(type_ref type, value& out);
  bool record(type_ref type, value& out);
  bool record_key(type_ref type, std::vector<bool>& seen, std::vector<value>& items,
                  std::set<std::string>& passed_over);
  bool variant(type_ref type, value& out);
  bool tag_of(type_ref type, std::string_view tag, uint32_t& position);
  bool fill_missing(const field& f);

  const field* find(type_ref type, std::string_view key) const;
  bool unknown_key(type_ref type, std::string_view key, const char* what);
  bool begins_with_bracket(type_ref type) const;
  bool spend();

  bool refuse(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
    return false;
  }
  bool expected(type_ref type) {
    if (!in_.failure().empty()) return false;
    const auto form = types_.kind_of(type);
    const auto what = types_.is_blob(type) ? std::string{"blob"} : std::string{keyword(form)};
    return refuse(fmt::format("expected {}, got {}", what, in_.glimpse()));
  }
  /// Where the value of a field is read to.
  value& slot(std::vector<value>& items, size_t index, value& dropped) const {
    return is_probe_ ? dropped : items[index];
  }
  bool under(bool ok, std::string segment) {
    if (!ok) path_.push_back(std::move(segment));
    return ok;
  }
  error failure(size_t argument) const;

  const type_table& types_;
  json_source in_;
  const json_options& options_;
  size_t steps_;
  bool is_probe_;
  std::string text_; ///< of the last string read
  std::vector<std::string> path_;
  std::string reason_;
};

} // namespace moxzi::candid
