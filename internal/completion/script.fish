# fish completion for @program@
function __@function@
    set -l typed (commandline -opc)
    set -l cur (commandline -ct)
    set -l reply ($typed[1] completion words -- $typed[2..-1] "$cur" 2>/dev/null)
    switch "$reply[1]"
        case files
            __fish_complete_path "$cur"
        case dirs
            __fish_complete_directories "$cur"
    end
    printf '%s\n' $reply[2..-1]
end
complete -c @program@ -f -a '(__@function@)'
