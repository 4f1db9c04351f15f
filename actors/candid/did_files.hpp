#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/candid/types.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// A `.did` file and what it imports, by index into `did_files`.
struct did_file {
  std::string path; ///< from the folder of the main file
  std::string text;
  std::vector<size_t> imports;

  /// `import service "…"`
  struct service_import {
    size_t file = 0;
    size_t offset = 0; ///< of the import in the text
  };
  std::vector<service_import> service_imports;

  std::optional<type_ref> service; ///< its own
  std::optional<size_t> init;      ///< where that service has arguments of its own

  bool is_open = true; ///< not yet read to its end
};

/// The files that one interface is made of. The first is the main one.
class did_files {
public:
  /// Adds a file; it keeps its place.
  size_t add(std::string path, std::string text);

  did_file& operator[](size_t index) {
    return files_[index];
  }
  const did_file& operator[](size_t index) const {
    return files_[index];
  }
  size_t size() const noexcept {
    return files_.size();
  }
  std::optional<size_t> find(std::string_view path) const;
  /// The file whose text this is.
  size_t index_of(std::string_view text) const;
  /// The path of a file that `importer` imports as `path`.
  std::string resolved(size_t importer, std::string_view path) const;
  /// With the path of the file before it, unless it is the main one.
  error in_file(size_t index, error what) const;
  /// The open files from `first` to the last added, and back: `a.did -> b.did -> a.did`.
  std::string cycle(size_t first) const;

  /// For each file: does it know what the others define? It knows what it imports, directly or not.
  std::vector<std::vector<bool>> visible() const;

  /// A service that belongs to a file: its own, or one that came with `import service`.
  struct part {
    size_t file = 0;
    size_t importer = 0;
    size_t offset = 0; ///< of the import
  };
  /// The services of a file, its own first, each once.
  std::vector<part> services_of(size_t index) const;

private:
  std::deque<did_file> files_;
};

} // namespace moxzi::candid
