// cpp_probe.cc: what a view of fogmarch.hpp shows, for package_cpp.py, which compares it with what
// the bytes say.
//
//   cpp_probe ADDRESS WORLD TEAM
//
// Commands on standard input, one to a line, each answered by one line of JSON:
//
//   until TICK    follows the view to this tick; answers all that it shows
//   rect X Y W H  moves the view's rectangle
//   resume        breaks the connection and goes on in a new session
//   errors        the outcome of requests that fail, and of views that are closed
//
// A second model is built from the callbacks alone; `agree` tells whether it equals the view.

#include <fogmarch/fogmarch.hpp>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace
{

std::string address;
std::unique_ptr<fogmarch::Client> client;
fogmarch::View *view;
std::map<std::uint64_t, fm_mirror_agent> agents;
std::vector<std::uint32_t> looks;
std::vector<fm_building_look> buildings;
std::vector<fm_mirror_ended> ends;
std::vector<fm_mirror_alert> alerts;
std::vector<fogmarch::Fog> fogs;
std::map<std::uint64_t, std::string> tags;
std::vector<std::uint64_t> died; // while others carried them
std::vector<std::uint64_t> boarded;
std::string over;
bool is_wrong; // a callback contradicts another

void copy_looks(std::uint32_t x, std::uint32_t y, std::uint32_t count)
{
    const fm_rect rect = view->rect();
    for (std::uint32_t i = x; i < x + count; i++) {
        looks[(y - rect.y) * rect.width + i - rect.x] = view->look(i, y);
    }
}

void copy_fogs(std::uint32_t x, std::uint32_t y, std::uint32_t count)
{
    const fm_rect rect = view->rect();
    for (std::uint32_t i = x; i < x + count; i++) {
        fogs[(y - rect.y) * rect.width + i - rect.x] = view->fog(i, y);
    }
}

void follow()
{
    view->on_replaced = [] {
        const fm_rect rect = view->rect();
        looks.assign(static_cast<std::size_t>(rect.width) * rect.height, 0);
        fogs.assign(looks.size(), fogmarch::Fog::hidden);
        for (std::uint32_t y = rect.y; y < rect.y + rect.height; y++) {
            copy_looks(rect.x, y, rect.width);
            copy_fogs(rect.x, y, rect.width);
        }
    };
    view->on_cells_changed = [](std::uint32_t x, std::uint32_t y, std::uint32_t count) {
        copy_looks(x, y, count);
        copy_fogs(x, y, count);
    };
    view->on_sight_changed = copy_fogs;
    view->on_alerted = [](const fm_mirror_alert &alert) { alerts.push_back(alert); };
    view->on_left = [](std::uint64_t id, fogmarch::LeaveReason reason) {
        if (reason == fogmarch::LeaveReason::boarded) {
            boarded.push_back(id);
        }
        is_wrong |= agents.erase(id) != 1;
        tags.erase(id);
    };
    view->on_entered = [](const fm_mirror_agent &agent) {
        is_wrong |= !agents.emplace(agent.id, agent).second;
    };
    view->on_moved = [](const fm_mirror_agent &agent) { agents[agent.id] = agent; };
    view->on_tagged = [](const fm_mirror_agent &agent) { tags[agent.id] = view->tag(agent.id); };
    view->on_buildings_changed = []() {
        const fm_mirror &mirror = view->mirror();
        buildings.assign(mirror.buildings, mirror.buildings + mirror.building_count);
    };
    view->on_order_ended = [](const fm_mirror_ended &order) { ends.push_back(order); };
    view->on_died = [](std::uint64_t id) { died.push_back(id); };
    view->on_ended = [](const std::string &why) { over = why; };
}

bool is_same(const fm_mirror_agent &a, const fm_mirror_agent &b)
{
    return a.id == b.id && a.team == b.team && a.cell == b.cell && a.state == b.state &&
           a.class_index == b.class_index;
}

bool agrees()
{
    bool agree = !is_wrong && agents.size() == view->agent_count();
    for (std::uint32_t i = 0; i < view->agent_count() && agree; i++) {
        const fm_mirror_agent &agent = view->agent_at(i);
        agree = agents.count(agent.id) == 1 && is_same(agents[agent.id], agent) &&
                is_same(*view->find(agent.id), agent) && tags[agent.id] == view->tag(agent.id);
    }
    const fm_rect rect = view->rect();
    for (std::size_t i = 0; i < looks.size() && agree; i++) {
        const std::uint32_t x = rect.x + static_cast<std::uint32_t>(i) % rect.width;
        const std::uint32_t y = rect.y + static_cast<std::uint32_t>(i) / rect.width;
        agree = looks[i] == view->look(x, y) && fogs[i] == view->fog(x, y) &&
                view->cost(x, y) == looks[i] / 16 + 1;
    }
    return agree;
}

void until(std::uint64_t tick)
{
    while (over.empty() && (!view->is_live() || view->tick() < tick)) {
        if (!client->update(10)) {
            over = client->error().message;
        }
    }
}

void print_motions()
{
    const char *comma = "";
    for (std::uint32_t i = 0; i < view->agent_count(); i++) {
        const std::uint64_t id = view->agent_at(i).id;
        const fm_mirror_motion *motion = view->motion(id);
        if (motion == nullptr) {
            continue;
        }
        std::printf("%s[%llu,%u,%u", comma, static_cast<unsigned long long>(id), motion->heading,
                    motion->speed);
        for (std::uint32_t k = 0; k < motion->waypoint_count; k++) {
            std::printf(",%u,%u", motion->waypoints[k].x2, motion->waypoints[k].y2);
        }
        std::printf("]");
        comma = ",";
    }
}

void print_tags()
{
    const char *comma = "";
    for (std::uint32_t i = 0; i < view->agent_count(); i++) {
        const fm_mirror_agent &agent = view->agent_at(i);
        std::uint32_t size;
        const std::uint8_t *tag = fm_mirror_tag_of(&view->mirror(), &agent, &size);
        if (tag == nullptr) {
            continue;
        }
        std::printf("%s[%llu,[", comma, static_cast<unsigned long long>(agent.id));
        for (std::uint32_t k = 0; k < size; k++) {
            std::printf("%s%u", k == 0 ? "" : ",", tag[k]);
        }
        std::printf("]]");
        comma = ",";
    }
}

void print_visible()
{
    const fm_rect rect = view->rect();
    const char *comma = "";
    for (std::uint32_t i = 0; i < rect.width * rect.height; i++) {
        const std::uint32_t x = rect.x + i % rect.width, y = rect.y + i / rect.width;
        if (view->fog(x, y) == fogmarch::Fog::visible) {
            std::printf("%s[%u,%u]", comma, x, y);
            comma = ",";
        }
    }
}

void print_ids(const std::vector<std::uint64_t> &ids)
{
    for (std::size_t i = 0; i < ids.size(); i++) {
        std::printf("%s%llu", i == 0 ? "" : ",", static_cast<unsigned long long>(ids[i]));
    }
}

void print_alerts()
{
    for (std::size_t i = 0; i < alerts.size(); i++) {
        std::printf("%s[%llu,%llu,%llu,%u,%u]", i == 0 ? "" : ",",
                    static_cast<unsigned long long>(alerts[i].order),
                    static_cast<unsigned long long>(alerts[i].agent),
                    static_cast<unsigned long long>(alerts[i].enemy), fm_cell_x(alerts[i].cell),
                    fm_cell_y(alerts[i].cell));
    }
}

void print_shown()
{
    const fm_rect rect = view->rect();
    std::printf("{\"tick\":%llu,\"rect\":[%u,%u,%u,%u],\"agree\":%s,\"resumed\":%s,\"end\":\"%s\","
                "\"looks\":[",
                static_cast<unsigned long long>(view->tick()), rect.x, rect.y, rect.width,
                rect.height, agrees() ? "true" : "false", view->is_resumed() ? "true" : "false",
                over.c_str());
    for (std::size_t i = 0; i < looks.size(); i++) {
        std::printf("%s%u", i == 0 ? "" : ",", looks[i]);
    }
    std::printf("],\"agents\":[");
    for (std::uint32_t i = 0; i < view->agent_count(); i++) {
        const fm_mirror_agent &a = view->agent_at(i);
        std::printf("%s[%llu,%u,%u,%u,%d,%u]", i == 0 ? "" : ",",
                    static_cast<unsigned long long>(a.id), a.team, fm_cell_x(a.cell),
                    fm_cell_y(a.cell), static_cast<int>(a.state), a.class_index);
    }
    std::printf("],\"buildings\":[");
    for (std::size_t i = 0; i < buildings.size(); i++) {
        const fm_building_look &b = buildings[i];
        std::printf("%s[%u,%u,%u,%u,%u,%u]", i == 0 ? "" : ",", b.id, b.team, b.rect.x, b.rect.y,
                    b.rect.width, b.rect.height);
    }
    std::printf("],\"motions\":[");
    print_motions();
    std::printf("],\"tags\":[");
    print_tags();
    std::printf("],\"visible\":[");
    print_visible();
    std::printf("],\"alerts\":[");
    print_alerts();
    std::printf("],\"ended\":[");
    for (std::size_t i = 0; i < ends.size(); i++) {
        std::printf("%s[%llu,%llu,%d,%u,%u]", i == 0 ? "" : ",",
                    static_cast<unsigned long long>(ends[i].order),
                    static_cast<unsigned long long>(ends[i].agent),
                    static_cast<int>(ends[i].reason), fm_cell_x(ends[i].cell),
                    fm_cell_y(ends[i].cell));
    }
    std::printf("],\"died\":[");
    print_ids(died);
    std::printf("],\"boarded\":[");
    print_ids(boarded);
    std::printf("]}\n");
}

void move_rect(std::istream &words)
{
    std::vector<std::uint64_t> rect(4);
    words >> rect[0] >> rect[1] >> rect[2] >> rect[3];
    fogmarch::Params params;
    params.set(FM_FIELD_SUBSCRIPTION, view->mirror().subscription).set(FM_FIELD_RECT, rect);
    const fm_status status = client->call(FM_METHOD_SUBSCRIPTION_MOVE, params);
    std::printf("{\"status\":\"%s\"}\n", fm_status_name(status));
}

void resume()
{
    const std::unique_ptr<fogmarch::Client> before = std::move(client);
    fm_client_options options = fm_client_options_default();
    options.resume = before->welcome().resume;
    client = fogmarch::Client::connect(address.c_str(), &options);
    view = &client->resume(*before, *view);
    for (int i = 0; i < 1000 && !view->is_resumed(); i++) {
        client->update(10);
    }
    std::printf("{\"session\":%s,\"view\":%s}\n", client->welcome().resumed ? "true" : "false",
                view->is_resumed() ? "true" : "false");
}

// A subscribe that cannot be sent is over at once, the one behind it as well, and the client goes
// on.
bool subscribe_without_room()
{
    fm_client_options options = fm_client_options_default();
    options.requests_max = 1;
    const std::unique_ptr<fogmarch::Client> full =
        fogmarch::Client::connect(address.c_str(), &options);
    bool pinged = false;
    const bool sent = full->send(FM_METHOD_PING, fogmarch::Params(),
                                 [&pinged](const fogmarch::Answer &answer) { pinged = answer.ok; });
    const bool is_over = full->subscribe(view->world()).is_over() &&
                         full->subscribe(view->world()).is_over() &&
                         std::strstr(full->error().message, "wait for the server") != nullptr;
    for (int i = 0; i < 1000 && !pinged; i++) {
        full->update(10);
    }
    fogmarch::View &later = full->subscribe(view->world());
    for (int i = 0; i < 1000 && !later.is_live(); i++) {
        full->update(10);
    }
    return sent && is_over && pinged && later.is_live();
}

void print_errors()
{
    const fm_status waited =
        client->call(FM_METHOD_WORLD_INFO, fogmarch::Params().set(FM_FIELD_WORLD, 77));
    std::string heard, unheard, refused, none;
    client->on_refused = [&unheard](const fm_client_error &error) { unheard = error.name; };
    client->send(FM_METHOD_WORLD_INFO, fogmarch::Params().set(FM_FIELD_WORLD, 78),
                 [&heard](const fogmarch::Answer &answer) { heard = answer.error.name; });
    client->move(view->world(), {999999}, 1, 1);
    client->subscribe(77).on_ended = [&refused](const std::string &why) { refused = why; };
    fogmarch::View &other = client->subscribe(view->world());
    client->unsubscribe(other); // before it is answered
    bool pinged = false;
    client->send(FM_METHOD_PING, fogmarch::Params(),
                 [&pinged](const fogmarch::Answer &) { pinged = true; });
    // The world answers the order to a missing unit, perhaps after everything else.
    for (int i = 0; i < 6000 && (!pinged || refused.empty() || unheard.empty()); i++) {
        client->update(10);
    }
    fm_client_error error;
    const bool is_there = fogmarch::Client::connect("127.0.0.1:1", nullptr, &error) != nullptr;
    fogmarch::Fields stats;
    (void)!client->call(FM_METHOD_STATS, fogmarch::Params(), &stats);
    const std::uint64_t sessions = stats.map("server").uint("sessions");
    const bool is_unsent_over = subscribe_without_room();
    std::printf(
        "{\"waited\":\"%s\",\"heard\":\"%s\",\"unheard\":\"%s\",\"refused\":\"%s\",\"none\":\"%s\","
        "\"sessions\":%llu,\"unsent\":%s}\n",
        fm_status_name(waited), heard.c_str(), unheard.c_str(), refused.c_str(),
        is_there ? "" : error.message, static_cast<unsigned long long>(sessions),
        is_unsent_over ? "true" : "false");
    client->on_refused = nullptr;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    address = argv[1];
    client = fogmarch::Client::connect(argv[1]);
    if (client == nullptr) {
        return 1;
    }
    view = &client->subscribe(std::stoull(argv[2]), std::stoull(argv[3]), nullptr, 1, true, true);
    follow();
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string command;
        words >> command;
        if (command == "until") {
            std::uint64_t tick = 0;
            words >> tick;
            until(tick);
            print_shown();
        } else if (command == "rect") {
            move_rect(words);
        } else if (command == "resume") {
            resume();
        } else {
            print_errors();
        }
        std::fflush(stdout);
    }
    return 0;
}
