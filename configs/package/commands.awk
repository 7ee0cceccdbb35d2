# The names of a program's commands, from its help: the words below headings, if its usage line asks for a command.
NR == 1 && /(COMMAND|EXPERIMENT)/ { has_commands = 1 }
/^[A-Z].*:$/ { listed = !/^(Options|Exit status|Examples)/ }
has_commands && listed && /^  [a-z][a-z0-9-]* +[^ ]/ { print $1 }
