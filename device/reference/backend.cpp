#include "device/open.hpp"
#include "device/ops/table.hpp"
#include "device/pointwise/chain.hpp"
#include "device/reference/kernels.hpp"

namespace moxzi::device {

namespace {

class reference_backend final : public backend {
public:
  reference_backend() {
    info_ = {.kind = "reference",
             .name = "plain loops in double precision",
             .version = "1",
             .parameter_types = {elem::f32, elem::f64}};
  }
  const backend_info& info() const noexcept override {
    return info_;
  }
  bool supports(op id) const noexcept override {
    auto how = find_row(id);
    if (id == chain_op) return true;
    if (!how) return false;
    if (how->runs == row_runs::pointwise) return pointwise::find_f64(id) != nullptr;
    return how->runs != row_runs::kernel || reference::find_kernel(id);
  }
  buffer_ptr allocate(uint64_t bytes, fault& why) override {
    return allocate_host(bytes, why);
  }
  std::optional<fault> write(buffer& to, uint64_t offset, byte_view from) override {
    return write_host(to, offset, from);
  }
  std::optional<fault> read(const buffer& from, uint64_t offset, uint64_t bytes,
                            byte_string& to) override {
    return read_host(from, offset, bytes, to);
  }
  std::unique_ptr<executable> prepare(const plan& what, fault& why) override {
    return make_host_executable(
      what,
      {.find = [](op id, elem) noexcept { return reference::find_kernel(id); },
       .add = reference::add,
       .finite = reference::finite,
       .bound = reference::bound,
       .sum_of_squares = reference::sum_of_squares,
       .step = reference::step},
      1, why);
  }

private:
  backend_info info_;
};

} // namespace

std::unique_ptr<backend> make_reference_backend() {
  return std::make_unique<reference_backend>();
}

} // namespace moxzi::device
