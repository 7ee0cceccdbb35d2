// server/methods/standby_methods.h: journal.follow and .have, standby.status and .promote.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_journal_follow, fm_take_journal_have, fm_take_standby_status,
    fm_take_standby_promote;
