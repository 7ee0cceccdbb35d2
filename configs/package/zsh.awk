# Makes a completion for zsh from the output of words.awk.
function quote(text) {
    gsub(/'/, "'\\''", text)
    return text
}
# For _arguments: [text] and :argument:
function specification(name, letter, argument, text,    rest) {
    gsub(/[:\\]/, "\\\\&", text)
    gsub(/\[/, "\\[", text)
    gsub(/\]/, "\\]", text)
    rest = "[" quote(text) "]"
    if (argument != "") {
        gsub(/[:\\]/, "\\\\&", argument)
        rest = rest ":" quote(argument) ":" (argument ~ /FILE|DIR|PATH|PROGRAM|^MAP/ ? "_files" : "")
    }
    return letter == "" ? "        '*--" name rest "'" \
        : "        '*--" name rest "'\n        '*-" letter rest "'"
}
BEGIN { FS = "\t" }
{
    program = $1
    if ($3 == "command") {
        text = $7
        gsub(/:/, "\\:", text)
        commands = commands "        '" $4 ":" quote(text) "'\n"
        names = names (names == "" ? "" : "|") $4
        next
    }
    options[$2] = options[$2] specification($4, $5, $6, $7) "\n"
    if ($2 != "" && !($2 in seen)) {
        seen[$2] = 1
        order[++count] = $2
    }
}
END {
    print "#compdef " program
    print "# zsh completion for " program ", made from its --help."
    print "local command= word\nlocal -a commands options"
    print "options=(\n" options[""] ")"
    if (commands == "") {
        print "_arguments -S $options '*:argument:_files'"
        exit
    }
    print "commands=(\n" commands ")"
    print "for word in ${words[2,CURRENT-1]}; do"
    print "    case $word in\n    " names ") command=$word; break ;;\n    esac\ndone"
    print "case $command in"
    for (i = 1; i <= count; i++) {
        print order[i] ") options+=(\n" options[order[i]] "    ) ;;"
    }
    print "esac"
    print "if [[ -z $command ]]; then"
    print "    _arguments -S $options '*:command:{_describe command commands}'"
    print "else\n    _arguments -S $options '*:argument:_files'\nfi"
}
