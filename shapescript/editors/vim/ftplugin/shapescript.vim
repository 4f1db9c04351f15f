" Settings for ShapeScript; Neovim 0.11 and newer also start the language server.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1

setlocal expandtab shiftwidth=4 softtabstop=4
setlocal comments=:# commentstring=#\ %s
setlocal suffixesadd=.ss

if executable("shapescript")
  compiler shapescript
endif

if has("nvim-0.11") && executable("shapescript")
  lua vim.lsp.start({name = "shapescript", cmd = {"shapescript", "lsp"}, root_dir = vim.fn.getcwd()})
endif

let b:undo_ftplugin = "setlocal expandtab< shiftwidth< softtabstop< comments< commentstring< suffixesadd<"
