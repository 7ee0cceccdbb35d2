// game_loop.cc: a game loop of sixty frames a second, with a server that ticks at its own pace.
// Makes a world with ten units, sends them across it, lets them glide from cell to cell, and
// destroys it when they are there.

#include <fogmarch/fogmarch.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{

struct Unit {
    double x, y; // where it is drawn
};

class Game
{
  public:
    explicit Game(fogmarch::Client &client) : client_(client)
    {
    }

    bool begin()
    {
        fogmarch::Fields made;
        fogmarch::Params world;
        world.set(FM_FIELD_NAME, "game-loop")
            .set(FM_FIELD_GENERATOR, "skirmish")
            .set(FM_FIELD_PLAYERS, 2)
            .set(FM_FIELD_OCCUPANCY, "exclusive");
        world.set(FM_FIELD_WIDTH, 64).set(FM_FIELD_HEIGHT, 64).set(FM_FIELD_TICK_HZ, 20.0);
        if (client_.call(FM_METHOD_WORLD_CREATE, world, &made) != FM_OK) {
            return false;
        }
        world_ = made.uint("world");
        bases_ = made.uints("bases"); // x, y of each player's
        if (client_.call(FM_METHOD_TEAM_CREATE, fogmarch::Params().set(FM_FIELD_WORLD, world_),
                         &made) != FM_OK) {
            return false;
        }
        team_ = made.uint("team");
        follow();
        std::vector<std::uint64_t> cells;
        for (int i = 0; i < 10; i++) {
            cells.insert(cells.end(), {bases_[0], bases_[1]});
        }
        fogmarch::Params spawn;
        spawn.set(FM_FIELD_WORLD, world_).set(FM_FIELD_TEAM, team_).set(FM_FIELD_CELLS, cells);
        spawn.set(FM_FIELD_PLACE, "nearest");
        // Never waits: the answer comes in a later frame.
        return client_.send(FM_METHOD_AGENT_SPAWN, spawn, [this](const fogmarch::Answer &answer) {
            if (answer.ok) {
                client_.move(world_, answer.result.uints("agents"),
                             static_cast<std::uint32_t>(bases_[2]),
                             static_cast<std::uint32_t>(bases_[3]), false, true);
            }
        });
    }

    // The server sends cells; a unit is drawn on its way between two of them.
    void frame(double seconds)
    {
        for (std::uint32_t i = 0; i < view_->agent_count(); i++) {
            const fm_mirror_agent &agent = view_->agent_at(i);
            Unit &unit = units_.at(agent.id);
            const double dx = fm_cell_x(agent.cell) - unit.x, dy = fm_cell_y(agent.cell) - unit.y;
            const double distance = std::hypot(dx, dy),
                         step = 24 * seconds; // cells; a bit faster than the ticks
            const double part = distance <= step ? 1 : step / distance;
            unit.x += dx * part;
            unit.y += dy * part;
        }
        if (frames_++ % 30 == 0 && !units_.empty()) {
            const Unit &one = units_.begin()->second;
            std::printf("frame %d, tick %u: %zu units, one at %.1f,%.1f\n", frames_,
                        static_cast<unsigned>(view_->tick()), units_.size(), one.x, one.y);
        }
    }

    bool end()
    {
        return client_.call(FM_METHOD_WORLD_DESTROY,
                            fogmarch::Params().set(FM_FIELD_WORLD, world_)) == FM_OK;
    }

    bool is_over() const
    {
        return ends_ == 10 || view_->is_over();
    }

  private:
    void follow()
    {
        view_ = &client_.subscribe(world_, team_);
        view_->on_entered = [this](const fm_mirror_agent &agent) {
            units_[agent.id] = {double(fm_cell_x(agent.cell)), double(fm_cell_y(agent.cell))};
        };
        view_->on_left = [this](std::uint64_t id, fogmarch::LeaveReason) { units_.erase(id); };
        view_->on_order_ended = [this](const fm_mirror_ended &order) {
            ends_++;
            std::printf("unit %u: %s\n", static_cast<unsigned>(order.agent),
                        order.reason == FM_END_ARRIVED ? "arrived" : "did not arrive");
        };
    }

    fogmarch::Client &client_;
    fogmarch::View *view_ = nullptr;
    std::unordered_map<std::uint64_t, Unit> units_; // by id
    std::uint64_t world_ = 0, team_ = 0;
    std::vector<std::uint64_t> bases_;
    int ends_ = 0, frames_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    fm_client_error error;
    const auto client =
        fogmarch::Client::connect(argc > 1 ? argv[1] : FM_CLIENT_ADDRESS, nullptr, &error);
    if (client == nullptr) {
        std::fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    client->on_refused = [](const fm_client_error &why) {
        std::fprintf(stderr, "%s\n", why.message);
    };
    Game game(*client);
    if (!game.begin()) {
        std::fprintf(stderr, "%s\n", client->error().message);
        return 1;
    }
    constexpr std::chrono::milliseconds frame(16);
    for (auto next = std::chrono::steady_clock::now(); !game.is_over(); next += frame) {
        if (!client->update()) {
            std::fprintf(stderr, "%s\n", client->error().message);
            return 1;
        }
        game.frame(0.016);
        std::this_thread::sleep_until(next);
    }
    if (!game.end()) {
        std::fprintf(stderr, "%s\n", client->error().message);
        return 1;
    }
    return 0;
}
