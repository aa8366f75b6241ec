# Completion of trdr for bash 3.2 and newer. Add to ~/.bashrc: source <(trdr completion bash)
_trdr() {
  local line=${COMP_LINE:0:COMP_POINT} breaks=${COMP_WORDBREAKS//[^=:@]/} head= lead= found file
  local word=${line##*[[:space:]]}
  # Bash replaces only the text after the last = : or @.
  [[ -n $breaks && $word == *[$breaks]* ]] && head=${word%"${word##*[$breaks]}"}
  [[ $word == --*=* ]] && lead=${word%%=*}=
  COMPREPLY=()
  while IFS= read -r found; do
    case $found in
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r file; do
          file=$lead$file
          COMPREPLY+=("${file#"$head"}")
        done < <(compgen -f -- "${word#"$lead"}")
        ;;
      :nospace) compopt -o nospace 2>/dev/null ;;
      *)
        found=${found%%$'\t'*}
        COMPREPLY+=("${found#"$head"}")
        ;;
    esac
  done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete line "$line" 2>/dev/null)
}
complete -F _trdr trdr
