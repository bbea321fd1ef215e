# bash completion for @program@
_@function@() {
  local line=${COMP_LINE:0:COMP_POINT} reply kind word
  local -a typed
  read -ra typed <<<"$line"
  [[ $line == *[[:space:]] ]] && typed+=("")
  COMPREPLY=()
  reply=$("${typed[0]}" completion words -- "${typed[@]:1}" 2>/dev/null) || return
  kind=${reply%%$'\n'*}
  while IFS=$'\t' read -r word _; do
    [[ -n $word ]] || continue
    # bash takes = for the end of a word, and keeps what is before it
    [[ ${COMP_WORDS[COMP_CWORD]} != "${typed[${#typed[@]}-1]}" && $word == --*=* ]] && word=${word#*=}
    COMPREPLY+=("$word")
  done <<<"${reply#"$kind"}"
  local cur=${COMP_WORDS[COMP_CWORD]}
  [[ $cur == = ]] && cur=
  case $kind in
    files) compopt -o filenames 2>/dev/null; while read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur") ;;
    dirs) compopt -o filenames 2>/dev/null; while read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$cur") ;;
  esac
}
complete -F _@function@ @program@
