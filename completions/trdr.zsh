#compdef trdr
# Completion of trdr for zsh. Add to ~/.zshrc: autoload -Uz compinit && compinit && source <(trdr completion zsh)
_trdr() {
  local found files
  local -a described plain space
  while IFS= read -r found; do
    case $found in
      :files) files=1 ;;
      :nospace) space=(-S '') ;;
      *$'\t'*) described+=("${${found%%$'\t'*}//:/\\:}:${found#*$'\t'}") ;;
      *) plain+=("$found") ;;
    esac
  done < <("${(Q)words[1]/#\~/$HOME}" __complete words "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if [[ -n $files ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    _files
  elif (( $#described )); then
    _describe -t values trdr described "${(@)space}"
    (( $#plain )) && compadd "${(@)space}" -a plain
  else
    compadd -M 'm:{a-zA-Z}={A-Za-z}' "${(@)space}" -a plain
  fi
}

if [[ $funcstack[1] == _trdr ]]; then
  _trdr "$@"
else
  compdef _trdr trdr
fi
