// server/methods/agent_report.h: agent.report: what units are doing, for their owners.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_agent_report;
fm_answer_fn fm_answer_agent_report;
