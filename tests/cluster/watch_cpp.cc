// tests/cluster/watch_cpp.cc: watches worlds, with fogmarch.hpp, see cluster_views.py.
//
//   watch_cpp ADDRESS WORLDS OPTION

#include <fogmarch/fogmarch.hpp>

#include <cstdio>
#include <cstring>
#include <string>

using fogmarch::Client;
using fogmarch::View;

static unsigned long long number(std::uint64_t value)
{
    return value;
}

static void watch(Client &client, View &view)
{
    view.on_updated = [&client, &view] {
        std::string agents;
        for (std::uint32_t i = 0; i < view.agent_count(); i++) {
            agents += (i == 0 ? "" : ", ") + std::to_string(view.agent_at(i).id);
        }
        std::printf("{\"view\": %llu, \"tick\": %llu, \"node\": \"%s\", \"agents\": [%s]}\n",
                    number(view.world()), number(view.tick()), fm_client_address(client.get()),
                    agents.c_str());
    };
    view.on_ended = [&view](const std::string &why) {
        std::printf("{\"view\": %llu, \"ended\": \"%s\", \"at\": \"%s\"}\n", number(view.world()),
                    why.c_str(), view.moved_to().c_str());
    };
}

int main(int argc, char **argv)
{
    fm_client_options options = fm_client_options_default();
    options.follow_ms = 30000;
    const std::unique_ptr<Client> client = argc == 4 ? Client::connect(argv[1], &options) : nullptr;
    if (client == nullptr) {
        return 2;
    }
    const fm_rect rect = {4, 4, 8, 8};
    View *first = nullptr;
    for (char *at = argv[2]; *at != '\0'; at += *at == ',') {
        View &view = client->subscribe(std::strtoull(at, &at, 10), 0,
                                       std::strcmp(argv[3], "rect") == 0 ? &rect : nullptr);
        first = first == nullptr ? &view : first;
        watch(*client, view);
        while (!view.is_live() && client->update(100)) {
        }
    }
    if (std::strcmp(argv[3], "drop") == 0 || std::strcmp(argv[3], "again") == 0) {
        client->unsubscribe(*first);
        std::puts("{\"dropped\": true}");
    }
    if (std::strcmp(argv[3], "again") == 0) {
        watch(*client, client->subscribe(first->world()));
    }
    while (client->update(100)) {
        std::fflush(stdout);
    }
    std::printf("{\"closed\": \"%s\"}\n", client->error().message);
    return 0;
}
