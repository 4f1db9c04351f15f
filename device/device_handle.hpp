#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <caf/all.hpp>

#include "base/bytes.hpp"
#include "device/caf_error.hpp"
#include "device/messages.hpp"
#include "device/program_builder.hpp"
#include "device/tensors.hpp"

/// A device for actors of any kind: event-based and typed ones, `scoped_actor`.
///
///     device.run(self, step, {text}).then(
///       [](const run_reply& done) { … done.scalars[0] … },
///       [](caf::error& why) { … text_of(why) … });
///
/// Requests of one actor are done in the order in which it made them. A request has no deadline,
/// since a run takes as long as it takes; when the device ends, CAF's error says so.
namespace moxzi::device {

/// A program that a device has checked. Copied freely, used with handles of the space that it was
/// compiled in.
class compiled_program {
public:
  compiled_program() = default;
  explicit compiled_program(std::shared_ptr<const runnable> what, plan_description plan = {})
      : what_(std::move(what)), plan_(plan) {
    // nop
  }

  const runnable& what() const noexcept {
    return *what_;
  }
  const std::shared_ptr<const runnable>& shared() const noexcept {
    return what_;
  }
  /// What a run takes, known before there is one.
  const plan_description& plan() const noexcept {
    return plan_;
  }
  explicit operator bool() const noexcept {
    return what_ != nullptr;
  }
  bool operator==(const compiled_program& other) const noexcept {
    return what_ == other.what_;
  }

private:
  std::shared_ptr<const runnable> what_;
  plan_description plan_;
};

/// An answer that is under way, as CAF's `request` gives one. The device's failures arrive where
/// CAF's own errors do. `Read` makes the value of an answer.
template <class Handle, class Read>
class pending_answer {
public:
  pending_answer(Handle handle, Read read) : handle_(std::move(handle)), read_(std::move(read)) {
    // nop
  }

  /// Calls one of them when the answer is there; other messages come through meanwhile. Without
  /// `on_error` the actor's error handler takes an error.
  template <class OnValue, class OnError>
  void then(OnValue on_value, OnError on_error) {
    handle_.then(reader(std::move(on_value), on_error),
                 [on_error](caf::error& why) mutable { on_error(why); });
  }
  template <class OnValue>
  void then(OnValue on_value) {
    then(std::move(on_value), failing());
  }
  /// As `then`, but no other message comes through meanwhile.
  template <class OnValue, class OnError>
  void await(OnValue on_value, OnError on_error) {
    handle_.await(reader(std::move(on_value), on_error),
                  [on_error](caf::error& why) mutable { on_error(why); });
  }
  template <class OnValue>
  void await(OnValue on_value) {
    await(std::move(on_value), failing());
  }
  /// For `scoped_actor` and other blocking actors: waits.
  template <class OnValue, class OnError>
  void receive(OnValue on_value, OnError on_error) {
    handle_.receive(reader(std::move(on_value), on_error),
                    [on_error](caf::error& why) mutable { on_error(why); });
  }

private:
  template <class OnValue, class OnError>
  auto reader(OnValue on_value, OnError on_error) const {
    return [on_value, on_error, read = read_](const device_answer_ptr& answer) mutable {
      if (!answer->outcome) {
        auto why = caf_error(answer->outcome.error());
        return on_error(why);
      }
      if constexpr (std::is_void_v<std::invoke_result_t<Read&, const device_answer&>>)
        on_value();
      else
        on_value(read(*answer));
    };
  }
  auto failing() {
    return [self = handle_.self()](caf::error& why) { self->call_error_handler(why); };
  }

  Handle handle_;
  Read read_;
};

/// A space on a device: its parameters and optimizers, which no other space sees. Copied freely,
/// and sent to others of the same process; it does not keep the device open (`opened_device` does).
class device_handle {
public:
  device_handle() = default;
  device_handle(device_worker_actor worker, byte_string space)
      : worker_(std::move(worker)), space_(std::move(space)) {
    // nop
  }

  /// Makes parameters: all of them, or none. Answers nothing.
  template <class Self>
  auto define(const Self& self, std::vector<param_spec> params) const {
    return ask(self, define_params{space_, std::move(params)}, nothing);
  }
  /// Makes or replaces an optimizer over parameters that exist. Answers nothing.
  template <class Self>
  auto define(const Self& self, optimizer_spec what) const {
    return ask(self, define_optimizer{space_, std::move(what)}, nothing);
  }
  /// Checks a program and makes its plan ready; answers a `compiled_program`. Inputs that were
  /// declared without a type are checked, and the plan made, at the first run instead.
  template <class Self>
  auto compile(const Self& self, runnable what) const {
    auto ahead = to_prepare(what);
    auto kept = std::make_shared<const runnable>(std::move(what));
    return ask(self, std::move(ahead), [kept](const device_answer& answer) {
      return compiled_program(kept, std::get<plan_description>(answer.facts));
    });
  }
  /// Runs it; answers a `run_reply`. Neither the inputs' bytes nor the answer's are copied on their
  /// way to and from the device.
  template <class Self>
  auto run(const Self& self, const compiled_program& what, std::vector<tensor> inputs) const {
    return ask(self, to_run(what, std::move(inputs)),
               [](const device_answer& answer) -> const run_reply& { return *answer.outcome; });
  }

  /// Reads whole parameters; answers a `std::vector<tensor>` in the order of the names.
  template <class Self>
  auto read(const Self& self, std::vector<std::string> names) const {
    return read(self, read_request{std::move(names), {}, {}});
  }
  /// Reads parameters, or a part of one; answers as above.
  template <class Self>
  auto read(const Self& self, read_request what) const {
    return ask(self, read_params{space_, std::move(what)},
               [](const device_answer& answer) -> const std::vector<tensor>& {
                 return answer.outcome->tensors;
               });
  }
  /// Writes into parameters that exist: all entries, or none. What optimizers remember of them
  /// stays. Answers nothing.
  template <class Self>
  auto write(const Self& self, std::vector<write_entry> entries) const {
    return ask(self, write_params{space_, std::move(entries)}, nothing);
  }
  /// Renames parameters: all of them, or none. Answers nothing.
  template <class Self>
  auto rename(const Self& self, std::vector<rename_entry> entries) const {
    return ask(self, rename_params{space_, std::move(entries)}, nothing);
  }
  /// Forgets parameters and optimizers: all of them, or none. Answers nothing.
  template <class Self>
  auto forget(const Self& self, delete_request what) const {
    return ask(self, delete_entries{space_, std::move(what)}, nothing);
  }
  /// Answers a `space_listing`: what there is in the space.
  template <class Self>
  auto list(const Self& self) const {
    return ask(self, list_space{space_}, [](const device_answer& answer) -> const space_listing& {
      return std::get<space_listing>(answer.facts);
    });
  }
  /// Answers a `device_description`: what the device is, and how much of it is used.
  template <class Self>
  auto describe(const Self& self) const {
    return ask(self, describe_device{space_},
               [](const device_answer& answer) -> const device_description& {
                 return std::get<device_description>(answer.facts);
               });
  }
  /// Forgets all that is in the space. Answers nothing.
  template <class Self>
  auto drop(const Self& self) const {
    return ask(self, drop_space{space_}, nothing);
  }

  const device_worker_actor& worker() const noexcept {
    return worker_;
  }
  const byte_string& space() const noexcept {
    return space_;
  }
  /// Another space on the same device.
  device_handle in_space(byte_string name) const {
    return {worker_, std::move(name)};
  }
  bool operator==(const device_handle& other) const {
    return worker_ == other.worker_ && space_ == other.space_;
  }

private:
  static void nothing(const device_answer&) {
    // nop
  }
  prepare_program to_prepare(const runnable& what) const;
  run_program to_run(const compiled_program& what, std::vector<tensor> inputs) const;

  template <class Self, class Message, class Read>
  auto ask(const Self& self, Message what, Read read) const {
    std::shared_ptr<const Message> message = std::make_shared<Message>(std::move(what));
    // Without a deadline: the worker answers each request, or ends, which CAF reports.
    auto handle = self->request(worker_, caf::infinite, std::move(message));
    return pending_answer<decltype(handle), Read>(handle, std::move(read));
  }

  device_worker_actor worker_;
  byte_string space_;
};

} // namespace moxzi::device

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::device_handle)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::compiled_program)
