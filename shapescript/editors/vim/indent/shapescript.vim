" A line after one that opens a block is indented once more, and one after `return` once less.
if exists("b:did_indent")
  finish
endif
let b:did_indent = 1

setlocal indentexpr=ShapescriptIndent(v:lnum)
setlocal indentkeys=!^F,o,O,e,0=elif,0=\|>

function! ShapescriptIndent(line)
  let above = prevnonblank(a:line - 1)
  if above == 0
    return 0
  endif
  let here = getline(a:line)
  let text = substitute(getline(above), '\s*#.*$', '', '')
  let leaves = text =~ '^\s*\(return\|break\|continue\|pass\)\>'
  let width = indent(above)
  if text =~ ':$' || (text =~ '^devices\>' && here =~ '^\s*\(shard\|split\)\>')
    let width += shiftwidth()
  elseif here =~ '^\s*|>' && text !~ '^\s*|>'
    let width += shiftwidth()
  elseif leaves || (text =~ '^\s*|>' && here !~ '^\s*|>')
    let width -= shiftwidth()
  endif
  if here =~ '^\s*\(elif\|else\)\>' && !leaves
    let width -= shiftwidth()
  endif
  " A line that ends blocks stays where it is: only its writer knows how many.
  if here =~ '\S' && here !~ '^\s*\(elif\|else\|shard\|split\||>\)'
    let width = min([width, indent(a:line)])
  endif
  return max([width, 0])
endfunction
