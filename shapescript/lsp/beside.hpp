#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "shapescript/lsp/analysis.hpp"

namespace shapescript::lsp {

/// Files that no editor has open, read and checked for one request, and views of them with those of
/// the open files.
struct files_beside {
  struct read_file {
    std::string uri;
    document text;
    checked known;
  };
  std::deque<read_file> read;
  std::vector<view> all;
};

/// So many files are read for one request.
inline constexpr size_t files_beside_max = 2000;

/// The open files, and those on disk that may write a name that is declared in the file `path`: in
/// its folder, and in the folders above it up to the workspace's, since an import leads only down.
files_beside files_with(const view& of, std::string_view name, const std::string& path);

/// The open files, and those beside them and in the workspace's folders.
files_beside files_of_workspace(const view& of);

} // namespace shapescript::lsp
