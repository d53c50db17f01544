# Makes Doxygen's comments of the plain ones of a public header: the comment above a declaration, and the one beside it.
# A table, a list of parameters or code in a comment, which is indented, is kept as it stands.

function escaped(text) {
  gsub(/\\/, "\\\\", text)
  gsub(/[@<>#]/, "\\\\&", text)
  return text
}

# A line of a comment, with what starts or ends a part that is kept as it stands.
function comment(text,    out) {
  if (text ~ /^ {2,}[^ ]/) {
    out = verbatim ? "" : indent "/// ~~~{.unparsed}\n"
    verbatim = 1
    return out indent "/// " text
  }
  out = verbatim ? indent "/// ~~~\n" : ""
  verbatim = 0
  return out indent "/// " escaped(text)
}

function end_comment() {
  if (verbatim) print indent "/// ~~~"
  verbatim = 0
}

FNR == 1 { verbatim = 0; inside = 0; first = 1; held = 0; fitting = 0; befriending = 0 }

# How the types fit templates of the standard library: it needs no page, and Doxygen cannot place it.
/^template <>$/ { held = 1; next }
held && /^struct std::/ { held = 0; print ""; fitting = !/};$/; print ""; next }
held { held = 0; print "template <>" }
fitting { fitting = !/^};/; print ""; next }

# Doxygen lists friends beside the members and then links to nothing. A class's comment says how its values are compared
# and printed.
/^ *friend / { befriending = !/[;}]( |$)/; print ""; next }
befriending { befriending = !/^ *}$/; print ""; next }

/^ *\/\/( |$)/ {
  text = $0
  match(text, /^ */)
  indent = substr(text, 1, RLENGTH)
  sub(/^ *\/\/ ?/, "", text)
  if (text ~ /^----/) { end_comment(); inside = 0; print ""; next }
  if (first && !inside) print "/// @file"
  inside = 1
  first = 0
  print comment(text)
  next
}

{
  if (inside) end_comment()
  inside = 0
  if ($0 != "") first = 0
  # Beside a declaration; "// NOLINT" and the end of a namespace are for others.
  if (match($0, /[;,{)0-9a-z}]  \/\/ /) && $0 !~ /NOLINT|^}|^#/) {
    code = substr($0, 1, RSTART)
    text = substr($0, RSTART + RLENGTH)
    print code "  ///< " escaped(text)
  } else {
    print
  }
}
