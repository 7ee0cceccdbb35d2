// clients/cli/base/files.h: whole files in and out. The name - is the standard input or output.

#pragma once

#include "clients/cli/base/cli.h"

#include <stdio.h>

/// Writes a whole file, or dies. A reader finds either the old file or the new one, also after a
/// power failure.
void fm_cli_write_file(const fm_cli *cli, const char *path, const char *bytes, size_t size);

/// Reads a file, sends it to the server and adds the number of the upload to cli->params; or dies.
void fm_cli_upload(fm_cli *cli, const char *path, size_t size_max);

/// The same with bytes.
void fm_cli_upload_bytes(fm_cli *cli, const char *bytes, size_t size);

/// Opens a file to be written piece by piece, or dies.
FILE *fm_cli_create_file(const fm_cli *cli, const char *path);

/// Closes what fm_cli_create_file() opened; dies when something of it could not be written.
void fm_cli_close_file(const fm_cli *cli, FILE *file, const char *path);
