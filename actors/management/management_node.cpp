#include "actors/management/management.hpp"

// What is said about the node itself: it is its own subnet, of one node.

namespace moxzi::actors::management {

namespace {

constexpr uint64_t day_ns = 86'400'000'000'000;

} // namespace

bool management_state::is_our_subnet(const call_ptr& call, const principal& id) {
  if (id == setup_.subnet) return true;
  refuse(call, rejected(reject_code::canister_reject, "MX406",
                        fmt::format("{}: there is no subnet {} here, only {}", call->method(),
                                    id.to_text(), setup_.subnet.to_text())));
  return false;
}

void management_state::show_subnet(const call_ptr& call, const subnet_info_args& args) {
  if (!is_our_subnet(call, args.subnet_id)) return;
  reply(call, method_types::get().subnet_info.reply, {setup_.version, 1});
}

// One sample: today's. Blocks are what a node proposes in a consensus; alone it proposes none.
void management_state::show_node_metrics(const call_ptr& call,
                                         const node_metrics_history_args& args) {
  if (!is_our_subnet(call, args.subnet_id)) return;
  const auto today_ns = setup_.time->unix_ns() / day_ns * day_ns;
  std::vector<node_metrics_entry> entries;
  if (args.start_at_timestamp_nanos <= today_ns) {
    entries.push_back({today_ns, {{setup_.node, 0, 0}}});
  }
  reply(call, method_types::get().node_metrics_history.reply, entries);
}

} // namespace moxzi::actors::management
