" Syntax of ShapeScript.
if exists("b:current_syntax")
  finish
endif

syntax keyword shapescriptControl for in while if elif else return break continue pass as
syntax keyword shapescriptWord and or not
syntax keyword shapescriptMut mut
syntax keyword shapescriptBool true false
syntax keyword shapescriptFn fn nextgroup=shapescriptName skipwhite
syntax match shapescriptName /\h\w*/ contained
syntax match shapescriptDeclaration /^\(devices\|dim\|data\|model\|extern\|import\)\>/
syntax match shapescriptDeclaration /^\s\+\(param\|buffer\|layer\)\ze\s\+\h\w*\s*:/
syntax match shapescriptDeclaration /^\s\+\(shard\s\+params\|split\ze\s\+\h\)/
syntax match shapescriptNumber /\<\d[0-9_]*\(\.\d[0-9_]*\)\?\([eE][+-]\?\d\+\)\?\>/
syntax keyword shapescriptType int float bool str f32 f64 f16 bf16 i8 i16 i32 i64 u8
syntax keyword shapescriptType NonNeg Pos Unit Prob Index Grad AdamW Adam Sgd Lion
syntax keyword shapescriptType Dataset Batches Rng BatchNorm
syntax match shapescriptOperator /|>\|->\|\.\.\|[=!<>+*\/%@-]/
syntax match shapescriptEscape /\\\([nt\\"{]\|u{\x*}\)/ contained
syntax region shapescriptString start=/"/ skip=/\\\\\|\\"/ end=/"\|$/ contains=shapescriptEscape
syntax match shapescriptComment /#.*$/ contains=@Spell

highlight default link shapescriptControl Statement
highlight default link shapescriptWord Operator
highlight default link shapescriptMut StorageClass
highlight default link shapescriptBool Boolean
highlight default link shapescriptFn Keyword
highlight default link shapescriptName Function
highlight default link shapescriptDeclaration Structure
highlight default link shapescriptNumber Number
highlight default link shapescriptType Type
highlight default link shapescriptOperator Operator
highlight default link shapescriptEscape SpecialChar
highlight default link shapescriptString String
highlight default link shapescriptComment Comment

let b:current_syntax = "shapescript"
