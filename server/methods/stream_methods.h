// server/methods/stream_methods.h: subscribe, subscription.move and unsubscribe.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_subscribe, fm_take_subscription_move, fm_take_unsubscribe;
