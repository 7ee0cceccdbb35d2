# Makes a man page from the output of help_texts.
#
#   awk -v section=1 -v version=1.2 -v others="a(1), b(8)" -f man.awk
#
# A paragraph is filled, unless it is laid out by hand (blanks at the start of a line, or several in a row); an
# option is a tagged paragraph. Commands have a subsection each, without the options that all have.
function escape(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    return text
}
function line(text) {
    text = escape(text)
    print (text ~ /^[.]/ ? "\\&" : "") text
}
function flush(    i, by_hand) {
    for (i = 1; i <= count; i++) {
        by_hand = by_hand || paragraph[i] ~ /^ |[^.:;]  +/
    }
    if (count > 0) {
        print by_hand ? ".PP\n.nf" : ".PP"
        for (i = 1; i <= count; i++) {
            line(paragraph[i])
        }
        if (by_hand) {
            print ".fi"
        }
    }
    count = 0
}
# "-c, --connect ADDRESS:PORT  text" or "name  text"
function tagged(text,    at, head) {
    flush()
    sub(/^ +/, "", text)
    at = match(text, /  +/)
    if (!at && text !~ /^-/) {
        at = match(text, / +/)
    }
    head = at ? substr(text, 1, at - 1) : text
    print ".TP\n\\fB" escape(head) "\\fR"
    if (at) {
        line(substr(text, at + RLENGTH))
    }
    in_tag = 1
}
/^@ / {
    flush()
    program = $2
    command = $3
    skip = in_tag = in_list = described = 0
    if (command != "" && !commands++) {
        print ".SH COMMANDS IN DETAIL"
    }
    next
}
# Usage, one or more lines.
/^(Usage:|       [a-z])/ && !described {
    text = $0
    sub(/^(Usage: |       )/, "", text)
    if (command != "") {
        print ".SS " escape(text)
    } else {
        usage = usage (usage == "" ? "" : "\n.br\n") escape(text)
    }
    next
}
# The first paragraph says what the program is.
command == "" && !described && !/^$/ {
    paragraph[++count] = $0
    next
}
command == "" && !described && count > 0 {
    for (i = 1; i <= count; i++) {
        about = about (i > 1 ? " " : "") paragraph[i]
    }
    sub(/[.:] .*|[.:]$/, "", about)
    print ".TH " toupper(program) " " section " \"\" \"fogmarch " version "\" \"fogmarch\""
    print ".SH NAME\n" program " \\- " tolower(substr(about, 1, 1)) escape(substr(about, 2))
    print ".SH SYNOPSIS\n" usage
    print ".SH DESCRIPTION"
    flush()
    described = 1
    next
}
command != "" && !described {
    described = 1
}
/^[A-Z][A-Za-z ]*:$/ {
    flush()
    in_tag = 0
    skip = command != "" && /^Options of every/
    in_list = !/^(Options|Examples|Exit status|Environment|Signals)/
    if (!skip) {
        text = $0
        sub(/:$/, "", text)
        print command == "" ? ".SH " toupper(text) : ".PP\n\\fB" escape(text) "\\fR"
    }
    next
}
skip && !/^[^ ]/ {
    next
}
/^$/ {
    flush()
    in_tag = 0
    next
}
/^ +-/ || (in_list && command == "" && /^  [a-z]/) {
    tagged($0)
    next
}
in_tag && /^      / {
    text = $0
    sub(/^ +/, "", text)
    line(text)
    next
}
{
    skip = in_tag = 0
    paragraph[++count] = $0
}
END {
    flush()
    print ".SH SEE ALSO\n" others
}
