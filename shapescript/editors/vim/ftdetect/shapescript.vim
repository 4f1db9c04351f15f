autocmd BufNewFile,BufRead *.ss setfiletype shapescript
