#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "shapescript/check/check.hpp"
#include "shapescript/check/typed_tree.hpp"
#include "shapescript/lsp/document.hpp"

namespace shapescript::lsp {

/// What the client can do with an answer.
struct abilities {
  bool snippets = false;           ///< texts with stops
  bool insert_replace = false;     ///< completions that replace the whole word, if a person wants
  bool lazy_documentation = false; ///< documentation is asked for one completion at a time
  bool label_places = false;       ///< parameters as places in a signature
};

/// The names of what stands in a folder; none if there is no such folder.
using folder_lister = std::function<std::vector<std::string>(const std::string& folder)>;

/// What the server is asked for and may read.
struct surroundings {
  abilities able;
  program_loader load; ///< the editor's text of a file that is open
  folder_lister list_folder;
  std::vector<std::string> roots; ///< the workspace's folders
};

/// What a feature looks at: an open file with what is known of it, and how the client counts. It
/// borrows; it lives as long as one request.
struct view {
  std::string uri;
  const document& text;
  const checked& known; ///< with its program
  encoding unit = encoding::utf16;
  std::span<const view> open = {}; ///< all open files, this one too
  const surroundings* around = nullptr;

  place_range range_of(span where) const {
    return {text.place_of(where.begin, unit), text.place_of(where.end, unit)};
  }
  const typed_tree& all() const {
    return *known.program;
  }
  /// The file itself, without those that it imports.
  const module_info& file() const {
    return *known.program->modules.front();
  }
  const tree& program() const {
    return file().program.program;
  }
  const abilities& able() const {
    static const abilities none;
    return around == nullptr ? none : around->able;
  }
  std::string_view at(span where) const {
    return file().text.text(where);
  }
};

/// The path of a `file:` URI; another URI as it stands.
std::string path_of(std::string_view uri);

/// The `file:` URI of a path.
std::string uri_of(std::string_view path);

/// A function's first line from its name up to its colon.
span signature_of(const module_info& in, const function_decl& f);

/// The function whose first line or block a place is in; `no_index` if it is in none, or its first
/// line can't be read.
uint32_t function_at(const view& of, uint32_t offset);

/// The model that a place is in, likewise.
uint32_t model_at(const view& of, uint32_t offset);

/// The names that mean something at a place: those of the file, and the parameters, axes and sizes
/// of the function and model around it, and the variables that have a value there.
std::vector<const name_info*> names_at(const view& of, uint32_t offset);

} // namespace shapescript::lsp
