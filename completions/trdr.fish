# Completion of trdr for fish. Add to ~/.config/fish/config.fish: trdr completion fish | source
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
