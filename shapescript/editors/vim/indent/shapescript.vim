" A line after one that ends in a colon is indented once more.
if exists("b:did_indent")
  finish
endif
let b:did_indent = 1

setlocal indentexpr=ShapescriptIndent(v:lnum)
setlocal indentkeys=!^F,o,O,e

function! ShapescriptIndent(line)
  let above = prevnonblank(a:line - 1)
  if above == 0
    return 0
  endif
  let text = substitute(getline(above), '\s*#.*$', '', '')
  let width = indent(above)
  if text =~ ':$'
    let width += shiftwidth()
  elseif text =~ '^\s*\(return\|break\|continue\|pass\)\>'
    let width -= shiftwidth()
  endif
  if getline(a:line) =~ '^\s*\(elif\|else\)\>' && text !~ '^\s*\(return\|break\|continue\|pass\)\>'
    let width -= shiftwidth()
  endif
  return max([width, 0])
endfunction
