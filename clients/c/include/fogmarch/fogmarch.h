// fogmarch/fogmarch.h: the C library of fogmarch, for C and C++.
//
// Everything that a game needs to talk to a server: connect and send requests (connection.h), pack
// parameters (params.h), read results (object.h), follow what a team sees (mirror.h). The names are
// those of the protocol (words.h). clients/c/README.md begins with a whole program.

#pragma once

#include <fogmarch/connection.h>
#include <fogmarch/mirror.h>
#include <fogmarch/object.h>
#include <fogmarch/params.h>
#include <fogmarch/words.h>
