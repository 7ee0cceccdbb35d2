// tests/cluster/watch_cpp.cc: watches worlds, with fogmarch.hpp, see cluster_views.py.
//
//   watch_cpp ADDRESS WORLDS OPTION

#include <fogmarch/fogmarch.hpp>

#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>

using fogmarch::Client;
using fogmarch::View;

static unsigned long long number(std::uint64_t value)
{
    return value;
}

static const char *first_address;

static void watch(Client &client, View &view)
{
    // The agents that the callbacks told of.
    const auto told = std::make_shared<std::set<std::uint64_t>>();
    view.on_entered = [told](const fm_mirror_agent &agent) {
        if (!told->insert(agent.id).second) {
            std::printf("{\"wrong\": \"%llu entered twice\"}\n", number(agent.id));
        }
    };
    view.on_left = [told](std::uint64_t id, fogmarch::LeaveReason) {
        if (told->erase(id) == 0) {
            std::printf("{\"wrong\": \"%llu left twice\"}\n", number(id));
        }
    };
    view.on_untold = [&view] { std::printf("{\"untold\": %llu}\n", number(view.world())); };
    view.on_updated = [&client, &view, told] {
        if (told->size() != view.agent_count()) {
            std::printf("{\"wrong\": \"%zu agents have entered\"}\n", told->size());
        }
        std::string agents;
        for (std::uint32_t i = 0; i < view.agent_count(); i++) {
            agents += (i == 0 ? "" : ", ") + std::to_string(view.agent_at(i).id);
        }
        const char *address = fm_client_address(client.get()); // empty where it does not follow
        std::printf("{\"view\": %llu, \"tick\": %llu, \"node\": \"%s\", \"agents\": [%s]}\n",
                    number(view.world()), number(view.tick()),
                    address[0] == '\0' ? first_address : address, agents.c_str());
    };
    view.on_ended = [&view](const std::string &why) {
        std::printf("{\"view\": %llu, \"ended\": \"%s\", \"at\": \"%s\"}\n", number(view.world()),
                    why.c_str(), view.moved_to().c_str());
    };
}

int main(int argc, char **argv)
{
    fm_client_options options = fm_client_options_default();
    const bool is_again = argc == 4 && std::strcmp(argv[3], "again") == 0;
    const bool is_brief =
        argc == 4 && (std::strcmp(argv[3], "brief") == 0 || std::strcmp(argv[3], "never") == 0);
    options.timeout_ms = is_brief ? 1500 : options.timeout_ms;
    options.follow_ms = is_again   ? 0
                        : is_brief ? 4000
                                   : 30000; // otherwise the C library keeps late messages away
    fm_client_error error{};
    const std::unique_ptr<Client> client =
        argc == 4 ? Client::connect(argv[1], &options, &error) : nullptr;
    if (client == nullptr) {
        std::printf("{\"closed\": \"%s\"}\n", error.message);
        return argc == 4 ? 0 : 2;
    }
    first_address = argv[1];
    const fm_rect rect = {4, 4, 8, 8};
    const bool is_early = std::strcmp(argv[3], "early") == 0;
    View *first = nullptr;
    client->on_refused = [](const fm_client_error &error) {
        std::printf("{\"refused\": \"%s\"}\n", error.message);
    };
    for (char *at = argv[2]; *at != '\0'; at += *at == ',') {
        View &view = client->subscribe(std::strtoull(at, &at, 10), 0,
                                       std::strcmp(argv[3], "rect") == 0 ? &rect : nullptr);
        first = first == nullptr ? &view : first;
        watch(*client, view);
        if (is_early && first == &view) {
            client->unsubscribe(view);
            std::puts("{\"dropped\": true}");
            first = nullptr; // gone after the next update that has its answer
            at += *at == ',';
            View &second = client->subscribe(std::strtoull(at, &at, 10));
            watch(*client, second);
            break;
        }
        while (!view.is_live() && !view.is_over() && client->update(100)) {
        }
    }
    if (std::strcmp(argv[3], "drop") == 0 || is_again) {
        client->unsubscribe(*first);
        std::puts("{\"dropped\": true}");
    }
    if (is_again) {
        View &again = client->subscribe(first->world());
        watch(*client, again);
        (void)client->update(); // the first view is gone after it, and has no answer yet
    }
    if (std::strcmp(argv[3], "call") == 0 || std::strcmp(argv[3], "brief") == 0) {
        client->send(FM_METHOD_WORLD_INFO,
                     std::move(fogmarch::Params().set(FM_FIELD_WORLD, first->world())),
                     [](const fogmarch::Answer &answer) {
                         if (answer.ok) {
                             std::puts("{\"called\": true}");
                         } else {
                             std::printf("{\"late\": \"%s\"}\n", answer.error.message);
                         }
                     });
    }
    while (client->update(100)) {
        std::fflush(stdout);
    }
    std::printf("{\"closed\": \"%s\"}\n", client->error().message);
    return 0;
}
