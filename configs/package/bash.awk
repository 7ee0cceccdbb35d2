# Makes a completion for bash from the output of words.awk.
BEGIN { FS = "\t" }
{
    program = $1
    if ($3 == "command") {
        commands = commands " " $4
        next
    }
    words = "--" $4 ($5 == "" ? "" : " -" $5)
    options[$2] = options[$2] " " words
    if (!($2 in seen)) {
        seen[$2] = 1
        order[++count] = $2
    }
    if ($6 != "") {
        gsub(/ /, "|", words)
        where = $6 ~ /FILE|DIR|PATH|PROGRAM|^MAP/ ? "files" : "others"
        cases[where] = cases[where] (cases[where] == "" ? "" : "|") ($2 == "" ? "*" : $2) ":" \
            ($5 == "" ? "--" $4 : "--" $4 "|" ($2 == "" ? "*" : $2) ":-" $5)
    }
}
END {
    shell = program
    gsub(/-/, "_", shell)
    print "# bash completion for " program ", made from its --help."
    print "_" shell "() {"
    print "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= word words"
    print "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do"
    print "        case \" " substr(commands, 2) " \" in"
    print "        *\" $word \"*) command=$word && break ;;"
    print "        esac"
    print "    done"
    print "    COMPREPLY=()"
    print "    case $command:$previous in"
    if (cases["files"] != "") {
        print "    " cases["files"] ") compopt -o default && return ;;"
    }
    if (cases["others"] != "") {
        print "    " cases["others"] ") return ;;"
    }
    print "    esac"
    print "    case $command in"
    for (i = 1; i <= count; i++) {
        if (order[i] != "") {
            print "    " order[i] ") words='" substr(options[order[i]], 2) "' ;;"
        }
    }
    print "    *) words= ;;"
    print "    esac"
    print "    if [[ $current == -* ]]; then"
    print "        mapfile -t COMPREPLY < <(compgen -W \"$words" options[""] "\" -- \"$current\")"
    if (commands != "") {
        print "    elif [[ -z $command ]]; then"
        print "        mapfile -t COMPREPLY < <(compgen -W '" substr(commands, 2) "' -- \"$current\")"
    }
    print "    else\n        compopt -o default\n    fi\n}"
    print "complete -F _" shell " " program
}
