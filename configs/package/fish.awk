# Makes a completion for fish from the output of words.awk.
function quote(text) {
    gsub(/[\\']/, "\\\\&", text)
    return "'" text "'"
}
BEGIN { FS = "\t" }
NR == 1 { print "# fish completion for " $1 ", made from its --help." }
$3 == "command" {
    if (!has_commands++) {
        print "complete -c " $1 " -n __fish_use_subcommand -f"
    }
    print "complete -c " $1 " -n __fish_use_subcommand -a " $4 " -d " quote($7)
    next
}
{
    where = $2 == "" ? "" : " -n '__fish_seen_subcommand_from " $2 "'"
    letter = $5 == "" ? "" : " -s " $5
    value = $6 == "" ? "" : $6 ~ /FILE|DIR|PATH|PROGRAM|^MAP/ ? " -r -F" : " -x"
    print "complete -c " $1 where " -l " $4 letter value " -d " quote($7)
}
