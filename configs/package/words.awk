# Makes a table from the output of help_texts: program, command or nothing, kind (option or command), name, letter,
# argument, text; with tabs between them. An option that all commands have is listed once, without a command.
function finish() {
    if (row != "") {
        sub(/[.;] .*|[.;:]$/, "", text)
        print row "\t" text
    }
    row = ""
}
/^@ / {
    finish()
    program = $2
    command = $3
    common = 0
    next
}
/^Usage:/ { has_commands = command == "" && /(COMMAND|EXPERIMENT)/ }
/^[A-Z].*:$/ {
    finish()
    common = command != "" && /^Options of every/
    listed = !/^(Options|Exit status|Examples)/
    next
}
/^ +(-[a-zA-Z], )?--[a-z]/ {
    finish()
    if (common) {
        next
    }
    rest = $0
    sub(/^ +/, "", rest)
    letter = ""
    if (rest ~ /^-[a-zA-Z], /) {
        letter = substr(rest, 2, 1)
        rest = substr(rest, 5)
    }
    at = match(rest, /  +/)
    head = at ? substr(rest, 1, at - 1) : rest
    text = at ? substr(rest, at + RLENGTH) : ""
    blank = index(head, " ")
    name = substr(blank ? substr(head, 1, blank - 1) : head, 3)
    argument = blank ? substr(head, blank + 1) : ""
    row = program "\t" command "\toption\t" name "\t" letter "\t" argument
    next
}
has_commands && listed && /^  [a-z][a-z0-9-]* +[^ ]/ {
    finish()
    row = program "\t\tcommand\t" $1 "\t\t"
    text = $0
    sub(/^  [^ ]+ +/, "", text)
    finish()
    next
}
row != "" && /^      / {
    more = $0
    sub(/^ +/, "", more)
    text = text (text == "" ? "" : " ") more
    next
}
{ finish() }
END { finish() }
