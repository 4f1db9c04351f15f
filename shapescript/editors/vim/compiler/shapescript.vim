" :make checks the file and fills the quickfix list.
if exists("current_compiler")
  finish
endif
let current_compiler = "shapescript"

CompilerSet makeprg=shapescript\ check\ %:S
CompilerSet errorformat=%Eerror[%.%#]:\ %m,%Wwarning[%.%#]:\ %m,%C\ %#-->\ %f:%l:%c,%C%.%#
