#include "device/cuda/nccl_group.hpp"

#include <cstring>
#include <mutex>

#include <fmt/format.h>
#include <nccl.h>

#include "base/assert.hpp"

namespace moxzi::device::cuda {

namespace {

std::string words_of(ncclResult_t code, std::string_view what) {
  return fmt::format("NCCL: {}: {}", what, ncclGetErrorString(code));
}

class nccl_member final : public collectives {
public:
  nccl_member(ncclComm_t group, uint32_t size, uint32_t rank, c10::cuda::CUDAStream stream)
      : group_(group), size_(size), rank_(rank), stream_(stream) {
    // nop
  }
  ~nccl_member() override {
    if (group_) ncclCommDestroy(group_);
  }

  uint32_t rank() const noexcept override {
    return rank_;
  }
  uint32_t size() const noexcept override {
    return size_;
  }

  std::optional<fault> all_reduce(void* data, uint64_t elements, elem type,
                                  uint32_t point) override {
    moxzi_assert(type == elem::f32 || type == elem::f64);
    return launched(ncclAllReduce(data, data, elements, type == elem::f64 ? ncclDouble : ncclFloat,
                                  ncclSum, group_, stream_),
                    point);
  }

  /// Parts may differ in size, which NCCL's own has no word for: each member tells its part.
  std::optional<fault> all_gather(const void* part, std::span<const uint64_t> bytes, void* whole,
                                  uint32_t point) override {
    moxzi_assert(bytes.size() == size_);
    auto code = ncclGroupStart();
    uint64_t start = 0;
    for (uint32_t root = 0; root < size_ && code == ncclSuccess; start += bytes[root++])
      code = ncclBroadcast(part, static_cast<char*>(whole) + start, bytes[root], ncclUint8,
                           static_cast<int>(root), group_, stream_);
    const auto ended = ncclGroupEnd();
    return launched(code == ncclSuccess ? ended : code, point);
  }

  std::optional<fault> broadcast(void* data, uint64_t bytes, uint32_t root,
                                 uint32_t point) override {
    return launched(
      ncclBroadcast(data, data, bytes, ncclUint8, static_cast<int>(root), group_, stream_), point);
  }

  void abort(std::string_view why) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!group_) return;
    why_ = why;
    ncclCommAbort(group_);
    group_ = nullptr;
  }

private:
  std::optional<fault> launched(ncclResult_t code, uint32_t point) {
    const std::lock_guard lock(mutex_);
    if (!group_) return fault{device_errc::device_failed, why_};
    auto earlier = ncclSuccess;
    if (code == ncclSuccess) code = ncclCommGetAsyncError(group_, &earlier);
    if (code == ncclSuccess) code = earlier;
    if (code == ncclSuccess || code == ncclInProgress) return std::nullopt;
    return fault{device_errc::device_failed,
                 words_of(code, fmt::format("rank {} at point {} of the program", rank_, point))};
  }

  std::mutex mutex_; ///< `abort` comes from another thread
  ncclComm_t group_;
  std::string why_;
  uint32_t size_;
  uint32_t rank_;
  c10::cuda::CUDAStream stream_;
};

} // namespace

byte_string new_nccl_group(fault& why) {
  ncclUniqueId id;
  if (const auto code = ncclGetUniqueId(&id); code != ncclSuccess) {
    why = {device_errc::device_failed, words_of(code, "no new group")};
    return {};
  }
  return {id.internal, sizeof id.internal};
}

std::unique_ptr<collectives> join_nccl_group(byte_view id, uint32_t size, uint32_t rank,
                                             c10::cuda::CUDAStream stream, fault& why) {
  ncclUniqueId bytes;
  if (id.size() != sizeof bytes.internal || rank >= size) {
    why = {device_errc::invalid_value,
           fmt::format("rank {} of {} in no group of GPUs", rank, size)};
    return nullptr;
  }
  std::memcpy(bytes.internal, id.data(), id.size());
  ncclComm_t group = nullptr;
  const auto code = ncclCommInitRank(&group, static_cast<int>(size), bytes, static_cast<int>(rank));
  if (code != ncclSuccess) {
    why = {device_errc::device_failed, words_of(code, fmt::format("rank {} can't join", rank))};
    return nullptr;
  }
  return std::make_unique<nccl_member>(group, size, rank, stream);
}

} // namespace moxzi::device::cuda
