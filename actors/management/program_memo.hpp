#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "actors/candid/decoder.hpp"
#include "device/program.hpp"

namespace moxzi::actors::management {

/// A message's part before its values, as it was read once, and the programs of such messages that
/// were read last. Both are recognised by their bytes: the encodings tell their own ends, so what
/// begins with the bytes of a header or program has exactly that header or program.
struct known_header {
  struct known_program {
    byte_string bytes;
    std::shared_ptr<const device::program> code;
    size_t steps = 0; ///< what reading it cost
  };

  byte_string bytes;
  candid::type_table types;
  std::vector<candid::type_ref> items;
  size_t steps = 0;
  std::list<known_program> programs; ///< last used first
};

/// The headers and programs seen last, within `limits::device_interface_bytes_max` bytes. What is
/// recognised costs a message as many steps as reading it does, so that no answer depends on what
/// was seen before.
class header_memo {
public:
  /// Reads over the header that `in` is at. Null if there is none: `in` has the reason. The pointer
  /// is good until the next call.
  known_header* read(candid::cursor& in);
  /// Adds a program to the header of the last `read`.
  void add(known_header& to, known_header::known_program what);

private:
  void shrink();

  std::list<known_header> headers_; ///< last used first
  size_t bytes_ = 0;
  size_t count_ = 0;
};

/// Recognises the program of one message.
class program_memo final : public candid::value_memo {
public:
  program_memo(candid::type_ref type, known_header& header) noexcept
      : type_(type), header_(header) {
    // nop
  }

  candid::type_ref type() const noexcept override {
    return type_;
  }
  bool find(candid::type_ref wire, candid::cursor& in) override;
  void keep(candid::cursor& in) override;

  /// The program, if it was recognised.
  const std::shared_ptr<const device::program>& known() const noexcept {
    return known_;
  }
  /// The bytes and steps of a program that was read.
  byte_view bytes() const noexcept {
    return bytes_;
  }
  size_t steps() const noexcept {
    return steps_;
  }
  /// How many operations there are, if they are too many to be read; else 0.
  uint64_t excess() const noexcept {
    return excess_;
  }

private:
  candid::type_ref type_;
  known_header& header_;
  std::shared_ptr<const device::program> known_;
  byte_view bytes_;
  size_t steps_ = 0;
  uint64_t excess_ = 0;
};

} // namespace moxzi::actors::management
