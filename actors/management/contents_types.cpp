#include <utility>

#include "actors/management/device_types.hpp"
#include "actors/management/forms.hpp"

// The declarations of what reads, writes, forgets and lists.

namespace moxzi::actors::management {

namespace {

form<device::space_listing> listing_form(declarations& in, const form<device::dtype>& type,
                                         const form<device::optimizer_kind>& kind) {
  using listing = device::space_listing;
  auto entry =
    record_of<listing::entry>(in, "Entry",
                              {bound("name", &listing::entry::name, text_form()),
                               bound("shape", &listing::entry::dims, vec_of(in, nat32_form())),
                               bound("dtype", &listing::entry::type, type),
                               bound("bytes", &listing::entry::bytes, nat64_form())},
                              "A tensor that the caller has.");
  using optimizer = listing::optimizer_entry;
  auto stepping = record_of<optimizer>(
    in, "OptimizerEntry",
    {bound("name", &optimizer::name, text_form()), bound("kind", &optimizer::kind, kind),
     bound("params", &optimizer::params, vec_of(in, text_form())),
     bound("step", &optimizer::step, nat64_form(), "Steps taken."),
     bound("lr", &optimizer::lr, candid::float64_form(), "Of the next step."),
     bound("bytes", &optimizer::bytes, nat64_form(), "Of what it remembers.")},
    "An optimizer that the caller has.");
  return record_of<listing>(in, "Listing",
                            {bound("params", &listing::params, vec_of(in, entry)),
                             bound("values", &listing::values, vec_of(in, entry)),
                             bound("optimizers", &listing::optimizers, vec_of(in, stepping))},
                            "All that the caller has, in the order of the names.");
}

/// A field of the description, only written.
template <class M>
candid::member<priced_description> told(std::string_view name, M device::device_description::*where,
                                        form<M> how, std::string_view note = {}) {
  return candid::computed<priced_description>(
    name, std::move(how),
    [where](const priced_description& x) -> const M& { return x.description->*where; }, note);
}

form<priced_description> description_form(declarations& in, const form<device::dtype>& type) {
  using info = device::device_description;
  return record_of<priced_description>(
    in, "Info",
    {told("kind", &info::kind, text_form(), "As `--device` spells it."),
     told("name", &info::name, text_form()),
     told("version", &info::version, text_form(), "Of the library that computes."),
     told("memory_total", &info::memory_total, opt_of(in, nat64_form()),
          "What may be used of it, in bytes; null = no limit."),
     told("memory_used", &info::memory_used, nat64_form()),
     told("actor_bytes", &info::actor_bytes, nat64_form(), "What the caller uses of it."),
     told("actor_quota", &info::actor_quota, opt_of(in, nat64_form()), "null = no limit"),
     told("dtypes", &info::dtypes, vec_of(in, type), "Those that parameters may have."),
     candid::computed<priced_description>(
       "cycles_per_ms", candid::nat_form(),
       [](const priced_description& x) { return candid::integer::from_uint64(x.cycles_per_ms); },
       "What a millisecond of the device costs; 0 = nothing."),
     told("max_ops", &info::max_ops, nat32_form(), "Operations of a program."),
     told("max_rank", &info::max_rank, nat32_form()),
     told("max_tensor_bytes", &info::max_tensor_bytes, nat64_form())},
    "The device, and what the caller has of it.");
}

} // namespace

void device_types::declare_contents(declarations& in, const form<device::tensor>& tensor) {
  using device::delete_request;
  using device::read_request;
  using device::rename_entry;
  using device::write_entry;
  read = record_of<read_request>(in, "Read",
                                 {bound("names", &read_request::names, vec_of(in, text_form())),
                                  bound("start", &read_request::start, opt_of(in, nat64_form()),
                                        "First element to read of a single name; null = 0."),
                                  bound("len", &read_request::len, opt_of(in, nat64_form()),
                                        "How many elements; null = all that follow.")},
                                 "Parameters to read, at most 2 MiB of data.");
  contents = vec_of(in, record_of<named_tensor>(
                          in, "Contents",
                          {bound("name", &named_tensor::name, text_form()),
                           bound("tensor", &named_tensor::contents, tensor,
                                 "With `start` or `len` its shape is the number of elements.")},
                          "A parameter that was read."));
  write = vec_of(
    in, record_of<write_entry>(in, "Write",
                               {bound("name", &write_entry::name, text_form()),
                                bound("tensor", &write_entry::contents, tensor,
                                      "Floats; of the parameter's shape if it replaces all."),
                                bound("start", &write_entry::start, opt_of(in, nat64_form()),
                                      "First element to replace; null = replace all.")},
                               "New contents of a parameter or of a part of it."));
  remove = record_of<delete_request>(
    in, "Delete",
    {bound_or_default(in, "params", &delete_request::params, vec_of(in, text_form()),
                      "They leave the optimizers that list them."),
     bound_or_default(in, "values", &delete_request::values, vec_of(in, text_form())),
     bound_or_default(in, "optimizers", &delete_request::optimizers, vec_of(in, text_form())),
     bound_or_default(in, "everything", &delete_request::everything, candid::boolean_form(),
                      "true: all that the caller has; null = false")},
    "Names to forget.");
  rename = vec_of(in, record_of<rename_entry>(in, "Rename",
                                              {bound("from", &rename_entry::from, text_form()),
                                               bound("to", &rename_entry::to, text_form())},
                                              "Another name for a parameter."));
}

void device_types::declare_facts(declarations& in, const form<device::dtype>& type,
                                 const form<device::optimizer_kind>& kind) {
  listing = listing_form(in, type, kind);
  description = description_form(in, type);
}

form<device::dtype> device_types::declare_dtype(declarations& in) {
  std::vector<std::pair<std::string_view, device::dtype>> tags;
  for (size_t i = 0; i <= static_cast<size_t>(device::dtype::boolean); ++i) {
    const auto type = static_cast<device::dtype>(i);
    tags.emplace_back(device::name_of(type), type);
  }
  return candid::enum_of(in, "Dtype", std::move(tags), "The type that a register computes in.");
}

} // namespace moxzi::actors::management
