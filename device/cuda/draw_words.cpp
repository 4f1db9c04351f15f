#include "device/cuda/draw_words.hpp"

#include "device/cuda/draw_source.hpp"

namespace moxzi::device::cuda {

aten::words_function make_words(kernels& on) {
  return [&on, kernel = cudaKernel_t{}](const aten::words_wanted& what, at::Tensor& out) mutable {
    if (!kernel) kernel = on.find(draw_source(), "draw_words");
    auto* own = std::get_if<int64_t>(&what.seed);
    draw_arguments with{};
    with.keys = reinterpret_cast<const long long*>(what.keys.const_data_ptr<int64_t>());
    with.out = reinterpret_cast<long long*>(out.mutable_data_ptr<int64_t>());
    with.count = out.numel();
    with.seed = own ? *own : 0;
    with.has_seed = own ? 1 : 0;
    with.site = what.site;
    with.which = what.which ? static_cast<int>(*what.which) : -1;
    on.launch(kernel, with.count, with);
  };
}

} // namespace moxzi::device::cuda
