/**
 * The scripts pass the line, up to the cursor, to `trdr __complete`, and its answer to the shell.
 */
export const completionScripts: Readonly<Record<string, string>> = {
  'trdr.bash': `# Completion of trdr for bash 3.2 and newer. Add to ~/.bashrc: source <(trdr completion bash)
_trdr() {
  local line=\${COMP_LINE:0:COMP_POINT} breaks=\${COMP_WORDBREAKS//[^=:@]/} head= lead= found file
  local word=\${line##*[[:space:]]}
  # Bash replaces only the text after the last = : or @.
  [[ -n $breaks && $word == *[$breaks]* ]] && head=\${word%"\${word##*[$breaks]}"}
  [[ $word == --*=* ]] && lead=\${word%%=*}=
  COMPREPLY=()
  while IFS= read -r found; do
    case $found in
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r file; do
          file=$lead$file
          COMPREPLY+=("\${file#"$head"}")
        done < <(compgen -f -- "\${word#"$lead"}")
        ;;
      :nospace) compopt -o nospace 2>/dev/null ;;
      *)
        found=\${found%%$'\\t'*}
        COMPREPLY+=("\${found#"$head"}")
        ;;
    esac
  done < <("\${COMP_WORDS[0]/#\\~/$HOME}" __complete line "$line" 2>/dev/null)
}
complete -F _trdr trdr
`,
  'trdr.zsh': `#compdef trdr
# Completion of trdr for zsh. Add to ~/.zshrc: autoload -Uz compinit && compinit && source <(trdr completion zsh)
_trdr() {
  local found files
  local -a described plain space
  while IFS= read -r found; do
    case $found in
      :files) files=1 ;;
      :nospace) space=(-S '') ;;
      *$'\\t'*) described+=("\${\${found%%$'\\t'*}//:/\\\\:}:\${found#*$'\\t'}") ;;
      *) plain+=("$found") ;;
    esac
  done < <("\${(Q)words[1]/#\\~/$HOME}" __complete words "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if [[ -n $files ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    _files
  elif (( $#described )); then
    _describe -t values trdr described "\${(@)space}"
    (( $#plain )) && compadd "\${(@)space}" -a plain
  else
    compadd -M 'm:{a-zA-Z}={A-Za-z}' "\${(@)space}" -a plain
  fi
}

if [[ $funcstack[1] == _trdr ]]; then
  _trdr "$@"
else
  compdef _trdr trdr
fi
`,
  'trdr.fish': `# Completion of trdr for fish. Add to ~/.config/fish/config.fish: trdr completion fish | source
function __trdr_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for found in ($words[1] __complete words $words[2..-1] "$current" 2>/dev/null)
        switch $found
            case :files
                set -l lead (string match -r -- '^--[a-z-]+=' $current)
                for file in (__fish_complete_path (string replace -- "$lead" '' $current))
                    echo "$lead$file"
                end
            case ':*'
            case '*'
                echo $found
        end
    end
end
complete -c trdr -f -k -a '(__trdr_complete)'
`,
  'trdr.ps1': `# Completion of trdr for PowerShell 5.1 and newer. Add to $PROFILE:
# trdr completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName trdr -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $self = $commandAst.CommandElements[0].Extent.Text
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    $line = $commandAst.Extent.Text.PadRight($length).Substring(0, $length)
    foreach ($found in @(& $self __complete line $line 2>$null)) {
        # If it gets no candidates, PowerShell completes file names.
        if ($found.StartsWith(':')) { continue }
        $word, $about = $found -split "\`t", 2
        if (-not $about) { $about = $word }
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
    }
}
`,
};
