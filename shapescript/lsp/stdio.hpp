#pragma once

namespace shapescript::lsp {

/// Serves one client over two file descriptors until it says `exit` or its stream ends; gives the
/// status to end with.
int serve(int in, int out);

} // namespace shapescript::lsp
