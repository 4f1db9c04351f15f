" Vim's own rule for *.ss is Scheme, so this one replaces what is set.
autocmd BufNewFile,BufRead *.ss set filetype=shapescript
