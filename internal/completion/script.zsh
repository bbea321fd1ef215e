#compdef @program@
_@function@() {
  local -a reply described
  local line word
  reply=("${(@f)$("$words[1]" completion words -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  for line in "${(@)reply[2,-1]}"; do
    word=${line%%$'\t'*}
    [[ -n $word ]] && described+=("${word//:/\\:}:${line#*$'\t'}")
  done
  local found=1
  (( $#described )) && _describe -V -t @program@ @program@ described && found=0
  case $reply[1] in
    files) _files && found=0 ;;
    dirs) _files -/ && found=0 ;;
  esac
  return found
}
if [ "$funcstack[1]" = _@function@ ]; then _@function@; else compdef _@function@ @program@; fi
