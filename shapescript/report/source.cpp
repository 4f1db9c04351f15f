#include "shapescript/report/source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace shapescript {

source::source(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  // A byte order mark belongs to no line.
  line_starts_.push_back(text_.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(static_cast<uint32_t>(i + 1));
  }
}

std::string_view source::text(span where) const noexcept {
  const auto begin = std::min<size_t>(where.begin, text_.size());
  const auto end = std::clamp<size_t>(where.end, begin, text_.size());
  return std::string_view{text_}.substr(begin, end - begin);
}

std::string_view source::line(uint32_t number) const noexcept {
  if (number == 0 || number > line_count()) return {};
  const size_t begin = line_starts_[number - 1];
  size_t end = number < line_count() ? line_starts_[number] - 1 : text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view{text_}.substr(begin, end - begin);
}

uint32_t source::line_of(uint32_t offset) const noexcept {
  const auto at = std::max<size_t>(std::min<size_t>(offset, text_.size()), line_starts_.front());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), at);
  return static_cast<uint32_t>(next - line_starts_.begin());
}

position source::position_of(uint32_t offset) const noexcept {
  const auto at = std::max<size_t>(std::min<size_t>(offset, text_.size()), line_starts_.front());
  const auto line = line_of(offset);
  const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  const auto begin = text_.begin() + line_starts_[line - 1];
  const auto end = text_.begin() + static_cast<std::ptrdiff_t>(at);
  uint32_t column = 1 + static_cast<uint32_t>(std::count_if(begin, end, is_start));
  if (at < text_.size() && !is_start(text_[at])) --column; // inside a character
  return {line, column};
}

namespace {

struct closer {
  void operator()(std::FILE* file) const {
    std::fclose(file);
  }
};

moxzi::error io_failure(const std::string& path) {
  return moxzi::fail(moxzi::base_errc::io, "{}: {}", path, std::strerror(errno));
}

} // namespace

moxzi::result<source> read_source(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return moxzi::fail(moxzi::base_errc::io, "{}: is a directory", path);
  std::unique_ptr<std::FILE, closer> file{std::fopen(path.c_str(), "rb")};
  if (!file) return io_failure(path);
  std::string text;
  char buffer[1 << 16];
  while (const auto n = std::fread(buffer, 1, sizeof(buffer), file.get())) {
    text.append(buffer, n);
    if (text.size() > program_bytes_max)
      return moxzi::fail(moxzi::base_errc::over_limit, "{}: larger than {} MiB", path,
                         program_bytes_max >> 20);
  }
  if (std::ferror(file.get())) return io_failure(path);
  return source{path, std::move(text)};
}

moxzi::result<source> read_imported(const std::string& path) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (kind == std::filesystem::file_type::fifo || kind == std::filesystem::file_type::character
      || kind == std::filesystem::file_type::socket)
    return moxzi::fail(moxzi::base_errc::io, "{}: is no file", path);
  return read_source(path);
}

moxzi::result<void> write_source(const std::string& path, std::string_view text) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const auto target = fs::canonical(path, failed).string(); // a link stays a link
  if (failed) return moxzi::fail(moxzi::base_errc::io, "{}: {}", path, failed.message());
  const auto fresh = target + ".new";
  {
    std::unique_ptr<std::FILE, closer> file{std::fopen(fresh.c_str(), "wb")};
    if (!file) return io_failure(fresh);
    const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size()
                         && std::fflush(file.get()) == 0;
    if (!written) {
      auto what = io_failure(fresh);
      std::remove(fresh.c_str());
      return what;
    }
  }
  fs::permissions(fresh, fs::status(target, failed).permissions(), failed);
  fs::rename(fresh, target, failed);
  if (!failed) return {};
  std::remove(fresh.c_str());
  return moxzi::fail(moxzi::base_errc::io, "{}: {}", path, failed.message());
}

} // namespace shapescript
