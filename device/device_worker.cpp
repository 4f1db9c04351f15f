#include "device/device_worker.hpp"

#include <algorithm>
#include <deque>
#include <new>
#include <optional>
#include <utility>
#include <variant>

#include "base/guard.hpp"
#include "device/errors.hpp"
#include "device/program_builder.hpp"

namespace moxzi::device {

/// Work that the device's thread has done.
struct work_done {
  device_answer_ptr answer;
};
using work_done_ptr = std::shared_ptr<const work_done>;

} // namespace moxzi::device

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::work_done_ptr)

namespace moxzi::device {

namespace {

using request =
  std::variant<define_params_ptr, define_optimizer_ptr, run_program_ptr, prepare_program_ptr,
               read_params_ptr, write_params_ptr, delete_entries_ptr, rename_params_ptr,
               list_space_ptr, describe_device_ptr, drop_space_ptr>;
using answer_promise = caf::typed_response_promise<device_answer_ptr>;

/// The worker, with what its thread tells it.
using worker_actor = device_worker_actor::extend<caf::reacts_to<work_done_ptr>>;

/// New parameters with more elements than this take longer than `inline_ns_max` to draw.
constexpr uint64_t inline_elements_max = 20'000;
/// The same for orthogonal ones, whose vectors are made so one by one.
constexpr uint64_t inline_orthogonal_max = 2'000;
/// Contents of more bytes than this take longer to write.
constexpr uint64_t inline_bytes_max = 1u << 20;

/// An exception can only be one of the standard library's (no memory).
template <class Call>
auto guarded(Call call) -> decltype(call()) {
  std::optional<decltype(call())> outcome;
  auto ran = guard([&outcome, &call] {
    try {
      outcome.emplace(call());
    } catch (const std::bad_alloc&) {
      outcome.emplace(at(device_errc::out_of_memory, "device", "the machine has no more memory"));
    }
  });
  if (!ran) return at(device_errc::device_failed, "device", ran.error().message);
  return std::move(*outcome);
}

/// Inputs are of the types that were declared, where some were.
result<void> check_declared(const run_program& what) {
  if (!what.compiled) return {};
  auto& declared = what.compiled->inputs;
  auto& sent = what.request.inputs;
  for (size_t i = 0; i < declared.size(); ++i) {
    if (i < sent.size() && sent[i].type == declared[i].type
        && std::ranges::equal(sent[i].dims, declared[i].dims.sizes()))
      continue;
    auto where = fmt::format("inputs[{}]", i);
    auto wanted = fmt::format("{} {}", name_of(declared[i].type), to_string(declared[i].dims));
    if (i >= sent.size())
      return fail_at(device_errc::input_number, where, "{} was declared, {} inputs were sent",
                     wanted, sent.size());
    return fail_at(device_errc::shape_mismatch, where, "{} was declared, {} [{}] was sent", wanted,
                   name_of(sent[i].type), fmt::join(sent[i].dims, ", "));
  }
  return {};
}

result<run_reply> empty_reply(result<void> what) {
  if (!what) return what.error();
  return run_reply{};
}

bool is_long(const define_params& what) {
  uint64_t share = 0; // of what can be done at once, in elements
  for (auto& spec : what.params) {
    uint64_t size = 1;
    for (uint64_t n : spec.dims) size = std::min<uint64_t>(size * n, inline_elements_max + 1);
    bool orthogonal = std::holds_alternative<init_orthogonal>(spec.init);
    share += orthogonal ? size * (inline_elements_max / inline_orthogonal_max) : size;
  }
  return share > inline_elements_max;
}

bool is_long(const write_params& what) {
  uint64_t bytes = 0;
  for (auto& entry : what.entries) bytes += entry.contents.data.size();
  return bytes > inline_bytes_max;
}

/// Does one request after the other. While the thread works for us, later requests wait here.
class worker_state {
public:
  ~worker_state() {
    for (auto& [what, promise] : waiting_) promise.deliver(caf::sec::request_receiver_down);
  }

  void start(worker_actor::pointer self, worker_setup setup) {
    self_ = self;
    thread_ = setup.thread;
    time_ = std::move(setup.time);
    core_ = std::make_shared<device_core>(std::move(setup.on), setup.options);
  }

  caf::result<device_answer_ptr> take(request what) {
    if (!busy_) {
      if (auto answer = begin(what)) return answer;
    }
    auto promise = self_->make_response_promise<device_answer_ptr>();
    waiting_.push_back({std::move(what), promise});
    return promise;
  }

  void finish(const work_done_ptr& done) {
    busy_ = false;
    waiting_.front().second.deliver(done->answer);
    waiting_.pop_front();
    while (!waiting_.empty() && !busy_) {
      if (auto answer = begin(waiting_.front().first)) {
        waiting_.front().second.deliver(std::move(answer));
        waiting_.pop_front();
      }
    }
  }

private:
  /// Does the request, or sends it to the thread: then there is no answer yet and `busy_`.
  device_answer_ptr begin(const request& what) {
    return std::visit([this](auto& part) { return start_work(part); }, what);
  }

  device_answer_ptr start_work(const define_params_ptr& what) {
    auto work = [core = core_, what] {
      return empty_reply(core->define_params(what->owner, what->params));
    };
    return is_long(*what) ? send_to_thread(work) : timed(*time_, work);
  }

  device_answer_ptr start_work(const define_optimizer_ptr& what) {
    return timed(*time_, [this, &what] {
      return empty_reply(core_->define_optimizer(what->owner, what->optimizer));
    });
  }

  device_answer_ptr start_work(const read_params_ptr& what) {
    return timed(*time_, [this, &what]() -> result<run_reply> {
      auto tensors = core_->read(what->owner, what->what);
      if (!tensors) return tensors.error();
      return run_reply{.tensors = std::move(*tensors)};
    });
  }

  device_answer_ptr start_work(const write_params_ptr& what) {
    auto work = [core = core_, what] {
      return empty_reply(core->write(what->owner, what->entries));
    };
    return is_long(*what) ? send_to_thread(work) : timed(*time_, work);
  }

  device_answer_ptr start_work(const delete_entries_ptr& what) {
    return timed(*time_,
                 [this, &what] { return empty_reply(core_->remove(what->owner, what->what)); });
  }

  device_answer_ptr start_work(const rename_params_ptr& what) {
    return timed(*time_,
                 [this, &what] { return empty_reply(core_->rename(what->owner, what->entries)); });
  }

  device_answer_ptr start_work(const list_space_ptr& what) {
    return found([this, &what]() -> result<device_facts> {
      auto listing = core_->list(what->owner);
      if (!listing) return listing.error();
      return device_facts{std::move(*listing)};
    });
  }

  device_answer_ptr start_work(const describe_device_ptr& what) {
    return found([this, &what]() -> result<device_facts> { return core_->describe(what->owner); });
  }

  device_answer_ptr start_work(const drop_space_ptr& what) {
    return timed(*time_, [this, &what]() -> result<run_reply> {
      core_->drop_space(what->owner);
      return run_reply{};
    });
  }

  device_answer_ptr start_work(const prepare_program_ptr& what) {
    auto from = time_->monotonic_ns();
    auto ready = guarded([&] { return core_->prepare(what->owner, what->request); });
    auto took = time_->monotonic_ns() - from;
    if (!ready) return std::make_shared<device_answer>(device_answer{ready.error(), took});
    return std::make_shared<device_answer>(device_answer{run_reply{}, took, ready->describe()});
  }

  device_answer_ptr start_work(const run_program_ptr& what) {
    auto from = time_->monotonic_ns();
    auto ready = guarded([&]() -> result<prepared_run> {
      if (auto ok = check_declared(*what); !ok) return ok.error();
      return core_->prepare(what->owner, what->request);
    });
    if (!ready)
      return std::make_shared<device_answer>(
        device_answer{ready.error(), time_->monotonic_ns() - from});
    if (ready->parallel() || ready->expected_ns() > inline_ns_max) {
      auto kept = std::make_shared<prepared_run>(std::move(*ready));
      auto planned_ns = time_->monotonic_ns() - from;
      auto work = [core = core_, time = time_, kept, what] {
        auto begun = time->monotonic_ns();
        auto outcome = core->execute(*kept);
        kept->measured(time->monotonic_ns() - begun);
        return outcome;
      };
      return send_to_thread(work, planned_ns);
    }
    auto begun = time_->monotonic_ns();
    auto outcome = guarded([&] { return core_->execute(*ready); });
    auto end = time_->monotonic_ns();
    ready->measured(end - begun);
    return std::make_shared<device_answer>(device_answer{std::move(outcome), end - from});
  }

  template <class Work>
  static device_answer_ptr timed(const clock& time, Work work, uint64_t before_ns = 0) {
    auto from = time.monotonic_ns();
    auto outcome = guarded(work);
    return std::make_shared<device_answer>(
      device_answer{std::move(outcome), before_ns + (time.monotonic_ns() - from)});
  }

  /// An answer of facts, which take no time of the device itself.
  template <class Look>
  static device_answer_ptr found(Look look) {
    auto facts = guarded(look);
    if (!facts) return std::make_shared<device_answer>(device_answer{facts.error(), 0});
    return std::make_shared<device_answer>(device_answer{run_reply{}, 0, std::move(*facts)});
  }

  template <class Work>
  device_answer_ptr send_to_thread(Work work, uint64_t before_ns = 0) {
    busy_ = true;
    thread_->post([self = caf::actor_cast<worker_actor>(self_), time = time_, work, before_ns] {
      caf::anon_send(self,
                     std::make_shared<const work_done>(work_done{timed(*time, work, before_ns)}));
    });
    return nullptr;
  }

  worker_actor::pointer self_ = nullptr;
  std::shared_ptr<device_core> core_; ///< shared with the thread while it works
  std::shared_ptr<const clock> time_;
  device_thread* thread_ = nullptr;
  bool busy_ = false;
  std::deque<std::pair<request, answer_promise>> waiting_; ///< the first is being done if `busy_`
};

/// CAF's own handlers would end the worker when a client is gone or sends something else.
template <class Self>
void harden(Self* self) {
  self->set_error_handler([](auto*, caf::error&) {});
  self->set_down_handler([](auto*, caf::down_msg&) {});
  self->set_default_handler([](auto*, caf::message_view&) -> caf::result<caf::message> {
    return caf::sec::unexpected_message;
  });
}

worker_actor::behavior_type device_worker(worker_actor::stateful_pointer<worker_state> self,
                                          std::shared_ptr<worker_setup> setup) {
  harden(self);
  self->state.start(self, std::move(*setup));
  return {
    [self](define_params_ptr& what) { return self->state.take(std::move(what)); },
    [self](define_optimizer_ptr& what) { return self->state.take(std::move(what)); },
    [self](run_program_ptr& what) { return self->state.take(std::move(what)); },
    [self](prepare_program_ptr& what) { return self->state.take(std::move(what)); },
    [self](read_params_ptr& what) { return self->state.take(std::move(what)); },
    [self](write_params_ptr& what) { return self->state.take(std::move(what)); },
    [self](delete_entries_ptr& what) { return self->state.take(std::move(what)); },
    [self](rename_params_ptr& what) { return self->state.take(std::move(what)); },
    [self](list_space_ptr& what) { return self->state.take(std::move(what)); },
    [self](describe_device_ptr& what) { return self->state.take(std::move(what)); },
    [self](drop_space_ptr& what) { return self->state.take(std::move(what)); },
    [self](const work_done_ptr& done) { self->state.finish(done); },
  };
}

} // namespace

device_worker_actor spawn_device_worker(caf::actor_system& system, worker_setup setup) {
  return system.spawn(device_worker, std::make_shared<worker_setup>(std::move(setup)));
}

} // namespace moxzi::device
