// fogmarch/fogmarch.hpp: the C library for a game in C++17: RAII, functions as callbacks, one call
// per frame.
//
//   std::unique_ptr<fogmarch::Client> client = fogmarch::Client::connect("127.0.0.1:7421");
//   fogmarch::View &view = client->subscribe(1, 1);            // world, team
//   view.on_entered = [](const fm_mirror_agent &agent) { ... };
//   while (client->update()) { ... a frame ... }
//
// Nothing here throws and nothing needs RTTI, so that it compiles with both switched off, as Unreal
// does. What fails says so by its result; Client::error() has the words. The statuses, methods and
// fields are those of <fogmarch/words.h>; what is not wrapped can be had from Client::get() and
// View::mirror().
//
// Ownership  a Client owns its connection and its views. What a callback is handed lives until it
//            returns.
// Threads    one at a time; all callbacks run inside of update() and call().

#pragma once

#include <fogmarch/fogmarch.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace fogmarch
{

/// The parameters of a request: Params().set(FM_FIELD_WORLD, 1).set(FM_FIELD_KIND, "move").
class Params
{
  public:
    Params()
    {
        fm_params_init(&params_);
    }
    ~Params()
    {
        fm_params_fini(&params_);
    }
    Params(const Params &) = delete;
    Params &operator=(const Params &) = delete;
    Params(Params &&other) noexcept : params_(other.params_)
    {
        fm_params_init(&other.params_);
    }
    Params &operator=(Params &&other) noexcept
    {
        std::swap(params_, other.params_);
        return *this;
    }

    /// A whole number, 0..2^53 - 1.
    Params &set(fm_field field, std::uint64_t number)
    {
        fm_params_uint(&params_, field, number);
        return *this;
    }
    Params &set(fm_field field, int number)
    {
        return set(field, static_cast<std::uint64_t>(number));
    }
    Params &set(fm_field field, unsigned number)
    {
        return set(field, static_cast<std::uint64_t>(number));
    }
    Params &set(fm_field field, double number)
    {
        fm_params_real(&params_, field, number);
        return *this;
    }
    Params &set(fm_field field, bool value)
    {
        fm_params_bool(&params_, field, value);
        return *this;
    }
    Params &set(fm_field field, const char *text)
    {
        fm_params_text(&params_, field, text);
        return *this;
    }
    Params &set(fm_field field, const std::string &text)
    {
        return set(field, text.c_str());
    }
    Params &set(fm_field field, const std::vector<std::uint64_t> &numbers)
    {
        fm_params_uints(&params_, field, numbers.data(),
                        static_cast<std::uint32_t>(numbers.size()));
        return *this;
    }
    /// Cells, as x, y, x, y.
    Params &set(fm_field field, const std::vector<fm_cell> &cells)
    {
        fm_params_cells(&params_, field, cells.data(), static_cast<std::uint32_t>(cells.size()));
        return *this;
    }
    /// One cell.
    Params &set_cell(fm_field field, std::uint32_t x, std::uint32_t y)
    {
        const fm_cell cell = fm_cell_at(x, y);
        fm_params_cells(&params_, field, &cell, 1);
        return *this;
    }

    const fm_params *get() const
    {
        return &params_;
    }

  private:
    fm_params params_;
};

/// A map that the server sent. An entry that is not there reads as 0, false, or empty.
class Fields
{
  public:
    explicit Fields(const msgpack_object *map = nullptr) : map_(map)
    {
    }

    bool has(const char *name) const
    {
        return fm_object_get(map_, name) != nullptr;
    }
    std::uint64_t uint(const char *name) const
    {
        return fm_object_uint(map_, name, 0);
    }
    double real(const char *name) const
    {
        return fm_object_real(map_, name, 0);
    }
    bool boolean(const char *name) const
    {
        return fm_object_bool(map_, name, false);
    }
    Fields map(const char *name) const
    {
        return Fields(fm_object_get(map_, name));
    }

    std::string text(const char *name) const
    {
        char text[1024];
        fm_object_text(map_, name, text, sizeof text);
        return text;
    }

    std::vector<std::uint64_t> uints(const char *name) const
    {
        const fm_numbers numbers = fm_object_numbers(map_, name);
        std::vector<std::uint64_t> all(numbers.count);
        for (std::uint32_t i = 0; i < numbers.count; i++) {
            all[i] = fm_numbers_at(numbers, i);
        }
        return all;
    }

    std::vector<Fields> maps(const char *name) const
    {
        const msgpack_object *array = fm_object_get(map_, name);
        std::vector<Fields> all;
        for (std::uint32_t i = 0; i < fm_object_count(array); i++) {
            all.emplace_back(fm_object_at(array, i));
        }
        return all;
    }

    const msgpack_object *get() const
    {
        return map_;
    }

  private:
    const msgpack_object *map_;
};

/// What a request was answered.
struct Answer {
    bool ok;
    fm_client_error error; // FM_OK when ok
    Fields result;
};

enum class LeaveReason {
    fog,
    removed,
    outside,
    turned,  // it has another team now, and enters again where it is seen
    boarded, // a carrier, and is out of the world until it comes out
};

/// What a view knows of a cell.
enum class Fog {
    hidden,   // it was never seen, or is not in view
    explored, // it was seen before, but is not now
    visible,  // it is seen now; only in a view with sight
};

class Client;

/// What a team sees, as of a tick. Client::subscribe() makes it. Callbacks are called when all of a
/// message has been applied, in the order in which they stand here; they may be empty.
class View
{
  public:
    /// Everything may be different: a keyframe, or another rectangle. Then all cells are to be
    /// drawn again.
    std::function<void()> on_replaced;
    /// So many cells from x, y eastward have another look.
    std::function<void(std::uint32_t x, std::uint32_t y, std::uint32_t count)> on_cells_changed;
    /// So many cells from x, y eastward came into sight or left it; only in a view with sight.
    std::function<void(std::uint32_t x, std::uint32_t y, std::uint32_t count)> on_sight_changed;
    std::function<void(std::uint64_t id, LeaveReason reason)> on_left;
    std::function<void(const fm_mirror_agent &agent)> on_entered;
    /// It moved or changed its state.
    std::function<void(const fm_mirror_agent &agent)> on_moved;
    /// Others stand in mirror().buildings, so many as its building_count.
    std::function<void()> on_buildings_changed;
    /// An order ended; each does exactly once.
    std::function<void(const fm_mirror_ended &order)> on_order_ended;
    /// A unit stopped for an enemy (alert of agent.order); agent.resume lets it go on.
    std::function<void(const fm_mirror_alert &alert)> on_alerted;
    /// An own agent died while another one carried it; it had left the view before.
    std::function<void(std::uint64_t id)> on_died;
    /// All callbacks for a message have been called.
    std::function<void()> on_updated;
    /// The subscription is over, or was refused: why. Other views go on; see moved_to().
    std::function<void(const std::string &why)> on_ended;

    View(const View &) = delete;
    View &operator=(const View &) = delete;
    ~View()
    {
        fm_mirror_fini(&mirror_);
    }

    std::uint64_t world() const
    {
        return world_;
    }
    std::uint64_t team() const
    {
        return team_;
    }
    std::uint64_t tick() const
    {
        return mirror_.tick;
    }
    /// Whether the first keyframe has come.
    bool is_live() const
    {
        return mirror_.rect.width > 0;
    }
    bool is_over() const
    {
        return is_over_;
    }
    /// Of a view that is over: the node that has its world now, as HOST:PORT; empty: none is known.
    const std::string &moved_to() const
    {
        return moved_to_;
    }
    /// Whether the server continued where a connection that broke had ended.
    bool is_resumed() const
    {
        return resumed_;
    }
    fm_rect rect() const
    {
        return mirror_.rect;
    }
    std::uint32_t agent_count() const
    {
        return mirror_.agent_count;
    }
    /// One of them, from 0; their order means nothing and changes.
    const fm_mirror_agent &agent_at(std::uint32_t index) const
    {
        return mirror_.agents[index];
    }
    /// nullptr: not in view.
    const fm_mirror_agent *find(std::uint64_t id) const
    {
        return fm_mirror_find(&mirror_, id);
    }
    /// How an agent moves, in a view with motion; nullptr: nothing is known.
    const fm_mirror_motion *motion(std::uint64_t id) const
    {
        return fm_mirror_motion_of(&mirror_, id);
    }
    std::uint32_t look(std::uint32_t x, std::uint32_t y) const
    {
        return fm_mirror_look(&mirror_, x, y);
    }
    /// Whether a cell is hidden, explored or visible; the last only in a view with sight.
    Fog fog(std::uint32_t x, std::uint32_t y) const
    {
        if (mirror_.visible != nullptr && fm_mirror_sees(&mirror_, x, y)) {
            return Fog::visible; // its look comes with the next tick
        }
        return look(x, y) == 0 ? Fog::hidden : Fog::explored;
    }
    fm_terrain terrain(std::uint32_t x, std::uint32_t y) const
    {
        return fm_look_terrain(look(x, y));
    }
    /// How many times the cost of open floor a known cell has.
    std::uint32_t cost(std::uint32_t x, std::uint32_t y) const
    {
        return fm_look_cost(look(x, y));
    }
    const fm_mirror &mirror() const
    {
        return mirror_;
    }

  private:
    friend class Client;

    View(std::uint64_t world, std::uint64_t team, const fm_rect *rect, std::uint32_t every,
         bool motion, bool sight)
        : world_(world), team_(team), every_(every), motion_(motion), sight_(sight),
          rect_(rect == nullptr ? fm_rect{0, 0, 0, 0} : *rect)
    {
        fm_mirror_init(&mirror_, 0, &ops(), this);
    }

    static const fm_mirror_ops &ops()
    {
        static const fm_mirror_ops table = make_ops();
        return table;
    }

    static fm_mirror_ops make_ops()
    {
        fm_mirror_ops table{};
        table.moved = [](void *context, const fm_mirror_agent *agent, fm_cell) {
            static_cast<View *>(context)->moves_.push_back(agent->id);
        };
        table.ended = [](void *context, const fm_mirror_ended *ended) {
            static_cast<View *>(context)->ends_.push_back(*ended);
        };
        table.alerted = [](void *context, const fm_mirror_alert *alert) {
            static_cast<View *>(context)->alerts_.push_back(*alert);
        };
        table.died = [](void *context, std::uint64_t agent) {
            static_cast<View *>(context)->died_.push_back(agent);
        };
        return table;
    }

    bool apply(fm_notification notification, const msgpack_object *params);
    void collect(bool is_keyframe, const Fields &params);
    void tell(bool is_keyframe, const Fields &params);
    void tell_cells(const Fields &params);
    void tell_sight(const Fields &params);

    struct Gone {
        std::uint64_t id;
        LeaveReason reason;
    };

    std::uint64_t world_, team_, stream_ = 0;
    std::uint32_t every_;
    bool motion_, sight_;
    fm_rect rect_; // that was asked for; width 0: all
    bool is_over_ = false, resumes_ = false, resumed_ = false;
    bool starts_over_ = false; // it was subscribed to again, until enough messages were good
    std::uint32_t good_ = 0;   // messages since then
    std::string moved_to_;
    fm_mirror mirror_;
    std::vector<std::uint64_t> before_, come_, moves_,
        died_; // kept, so that a tick costs no memory
    std::vector<Gone> gone_;
    std::vector<fm_mirror_ended> ends_;
    std::vector<fm_mirror_alert> alerts_;
};

/// A session with a server.
class Client
{
  public:
    using Then = std::function<void(const Answer &answer)>;

    /// A request without a function of its own was refused.
    std::function<void(const fm_client_error &error)> on_refused;
    /// Something that belongs to no view, such as FM_NOTIFY_GOING_DOWN.
    std::function<void(fm_notification notification, const Fields &params)> on_notified;

    /// Connects and says hello; waits for both.
    ///
    /// @param options  see fm_client_options_default(); nullptr: those
    /// @param error    receives what failed; may be nullptr
    /// @return empty: it failed
    static std::unique_ptr<Client> connect(const char *address = FM_CLIENT_ADDRESS,
                                           const fm_client_options *options = nullptr,
                                           fm_client_error *error = nullptr)
    {
        fm_client *raw = nullptr;
        fm_client_error unwanted;
        error = error == nullptr ? &unwanted : error;
        if (fm_client_connect(address, options, &raw, error) != FM_OK) {
            return nullptr;
        }
        std::unique_ptr<Client> client(new (std::nothrow) Client(raw));
        if (client == nullptr) {
            fm_client_destroy(raw);
        } else if (fm_client_hello(raw, &client->welcome_) != FM_OK) {
            *error = *fm_client_error_last(raw);
            client = nullptr;
        }
        return client;
    }

    /// Disconnects. Requests without an answer get none: their functions are not called.
    ~Client()
    {
        is_closing_ = true;
        fm_client_destroy(client_);
    }
    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;

    /// Once a frame: sends what waits, reads what has come, calls the callbacks. Does not wait, or
    /// at most so long.
    /// @return false: the connection is over; error() says why
    bool update(int wait_ms = 0)
    {
        const fm_status status = fm_client_wait(client_, wait_ms);
        forget_views();
        return status == FM_OK;
    }

    /// Calls a method and waits for the answer, for programs that have nothing else to do. Not in a
    /// callback.
    ///
    /// @param result  receives it, good until the next call; may be nullptr
    /// @return FM_OK, or why not
    [[nodiscard]] fm_status call(fm_method method, const Params &params, Fields *result = nullptr)
    {
        const msgpack_object *object = nullptr;
        const fm_status status = fm_client_call(client_, method, params.get(), &object);
        if (result != nullptr) {
            *result = Fields(object);
        }
        return status;
    }

    /// Calls a method; `then` is called by a later update(), with the answer, or with why there is
    /// none. Without it, on_refused hears of errors.
    /// @return false: it could not be sent; error() says why, and `then` is not called
    bool send(fm_method method, const Params &params, Then then = nullptr)
    {
        std::unique_ptr<Waiting> waiting(new (std::nothrow) Waiting{this, std::move(then)});
        if (waiting == nullptr || fm_client_send(client_, method, params.get(), on_reply,
                                                 waiting.get(), nullptr) != FM_OK) {
            return false;
        }
        waiting.release(); // on_reply deletes it
        return true;
    }

    /// Orders agents to go to a cell.
    bool move(std::uint64_t world, const std::vector<std::uint64_t> &agents, std::uint32_t x,
              std::uint32_t y, bool queue = false, bool spread = false)
    {
        return send(FM_METHOD_AGENT_ORDER, std::move(Params()
                                                         .set(FM_FIELD_WORLD, world)
                                                         .set(FM_FIELD_AGENTS, agents)
                                                         .set(FM_FIELD_KIND, "move")
                                                         .set_cell(FM_FIELD_GOAL, x, y)
                                                         .set(FM_FIELD_QUEUE, queue)
                                                         .set(FM_FIELD_SPREAD, spread)));
    }

    /// Subscribes to what a team sees; 0: a player's own team, for others everything. It is filled
    /// by a later update(). The view lives as long as the client, or until unsubscribe(). It may be
    /// over already when this returns (is_over()): the subscribe could not be sent, and on_ended,
    /// which was not set yet, is not called.
    ///
    /// @param rect    the part that is wanted; nullptr: all
    /// @param every   at most one message in so many ticks
    /// @param motion  with how agents move: View::motion()
    /// @param sight   with which cells are visible now: View::fog()
    View &subscribe(std::uint64_t world, std::uint64_t team = 0, const fm_rect *rect = nullptr,
                    std::uint32_t every = 1, bool motion = false, bool sight = false)
    {
        views_.emplace_back(new View(world, team, rect, every, motion, sight));
        View &view = *views_.back();
        ask(view);
        return view;
    }

    /// Ends a subscription. The view is gone after the next update().
    void unsubscribe(View &view)
    {
        if (view.mirror_.subscription != 0 && !view.is_over_ && !is_asked_for(&view)) {
            send_unsubscribe(view); // otherwise when the answer comes
        }
        view.is_over_ = true;
        unwanted_.push_back(&view);
    }

    /// Continues a view of a client whose connection broke: with what it missed, or, where the
    /// server has forgotten, with a keyframe. This client says hello with options.resume =
    /// before.welcome().resume, and has the view from now on.
    View &resume(Client &before, View &view)
    {
        views_.push_back(before.release(&view));
        view.resumes_ = view.is_live();
        view.is_over_ = false;
        ask(view);
        return view;
    }

    const fm_client_welcome &welcome() const
    {
        return welcome_;
    }
    /// Why the last function that failed did.
    const fm_client_error &error() const
    {
        return *fm_client_error_last(client_);
    }
    fm_client *get() const
    {
        return client_;
    }

  private:
    friend class View;

    struct Waiting {
        Client *client;
        Then then;
    };

    explicit Client(fm_client *client) : client_(client)
    {
        fm_client_on_notification(client, on_notification, this);
    }

    static void on_reply(void *context, std::uint64_t, const fm_client_error *error,
                         const msgpack_object *result)
    {
        const std::unique_ptr<Waiting> waiting(static_cast<Waiting *>(context));
        Client &client = *waiting->client;
        if (client.is_closing_) {
            return;
        }
        if (waiting->then) {
            waiting->then(Answer{error == nullptr, error == nullptr ? fm_client_error{} : *error,
                                 Fields(result)});
        } else if (error != nullptr && client.on_refused) {
            client.on_refused(*error);
        }
    }

    static void on_notification(void *context, fm_notification notification,
                                const msgpack_object *params)
    {
        static_cast<Client *>(context)->take(notification, params);
    }

    // ---- views
    // -----------------------------------------------------------------------------------

    // One subscribe at a time: a keyframe may come before the answer, and names only its
    // subscription.
    void ask(View &view)
    {
        to_ask_.push_back(&view);
        if (to_ask_.size() == 1) {
            send_subscribe();
        }
    }

    void send_subscribe()
    {
        View &view = *to_ask_.front();
        Params params;
        params.set(FM_FIELD_WORLD, view.world_).set(FM_FIELD_EVERY, view.every_);
        if (view.team_ != 0) {
            params.set(FM_FIELD_TEAM, view.team_);
        }
        if (view.motion_) {
            params.set(FM_FIELD_MOTION, true);
        }
        if (view.sight_) {
            params.set(FM_FIELD_SIGHT, true);
        }
        if (view.resumes_) {
            params.set(FM_FIELD_STREAM, view.stream_).set(FM_FIELD_SINCE, view.mirror_.tick);
        }
        const fm_rect &rect = view.resumes_ ? view.mirror_.rect : view.rect_;
        if (rect.width > 0) {
            params.set(FM_FIELD_RECT,
                       std::vector<std::uint64_t>{rect.x, rect.y, rect.width, rect.height});
        }
        if (!send(FM_METHOD_SUBSCRIBE, params,
                  [this](const Answer &answer) { on_subscribed(answer); })) {
            to_ask_.pop_front();
            if (!to_ask_.empty()) {
                send_subscribe();
            }
            end(view, "its subscribe could not be sent"); // last: on_ended may subscribe
        }
    }

    void on_subscribed(const Answer &answer)
    {
        View &view = *to_ask_.front();
        to_ask_.pop_front();
        if (answer.ok) {
            adopt(view, answer.result.uint("subscription"));
            view.stream_ = answer.result.uint("stream");
            view.resumed_ = answer.result.boolean("resumed");
            view.resumes_ = false;
        }
        if (!to_ask_.empty()) {
            send_subscribe();
        }
        if (!answer.ok) {
            end(view, answer.error.message);
        } else if (view.is_over_) { // given up meanwhile
            send_unsubscribe(view);
        }
    }

    // What is still under way for it until the answer comes belongs to no other view.
    void send_unsubscribe(const View &view)
    {
        const std::uint64_t number = view.mirror_.subscription;
        if (send(FM_METHOD_UNSUBSCRIBE, std::move(Params().set(FM_FIELD_SUBSCRIPTION, number)),
                 [this, number](const Answer &answer) {
                     leaving_.erase(number);
                     if (!answer.ok && on_refused) {
                         on_refused(answer.error);
                     }
                 })) {
            leaving_.insert(number);
        }
    }

    // Not only the last one: a server may have answered with another number than it used before.
    void forget_numbers(const View &view)
    {
        for (auto one = by_number_.begin(); one != by_number_.end();) {
            one = one->second == &view ? by_number_.erase(one) : std::next(one);
        }
    }

    void adopt(View &view, std::uint64_t subscription)
    {
        forget_numbers(view);
        fm_mirror_resume(&view.mirror_, subscription);
        by_number_[subscription] = &view;
    }

    void end(View &view, const std::string &why)
    {
        forget_numbers(view);
        if (!view.is_over_ && view.on_ended) {
            view.is_over_ = true;
            view.on_ended(why);
        }
        view.is_over_ = true;
    }

    View *view_of(std::uint64_t subscription, std::uint64_t world)
    {
        if (leaving_.count(subscription) > 0) {
            return nullptr;
        }
        const auto found = by_number_.find(subscription);
        if (found != by_number_.end()) {
            return found->second;
        }
        if (to_ask_.empty() || to_ask_.front()->world_ != world) {
            return nullptr;
        }
        adopt(*to_ask_.front(), subscription);
        return to_ask_.front();
    }

    void take(fm_notification notification, const msgpack_object *object)
    {
        const Fields params(object);
        if (notification == FM_NOTIFY_KEYFRAME || notification == FM_NOTIFY_DELTA) {
            View *view = view_of(params.uint("subscription"), params.uint("world"));
            if (view != nullptr && !view->is_over_ && !view->apply(notification, object)) {
                start_over(*view);
            }
        } else if (notification == FM_NOTIFY_WORLD_ENDED &&
                   by_number_.count(params.uint("subscription")) > 0) {
            end(*by_number_[params.uint("subscription")], "the world has ended");
        } else if (notification == FM_NOTIFY_MOVED &&
                   by_number_.count(params.uint("subscription")) > 0) {
            View &view = *by_number_[params.uint("subscription")];
            view.moved_to_ = params.text("tcp");
            end(view, params.has("error")
                          ? params.text("error")
                          : "world " + std::to_string(view.world_) + " is on another node now, " +
                                (view.moved_to_.empty() ? "and not known yet where"
                                                        : "at " + view.moved_to_));
        } else if (on_notified) {
            on_notified(notification, params);
        }
    }

    // Out of step with the server, or out of memory: the cure is a keyframe.
    void start_over(View &view)
    {
        send_unsubscribe(view);
        forget_numbers(view);
        if (view.starts_over_) {
            end(view, "the server sent a keyframe or a delta that is none");
            return;
        }
        fm_mirror_fini(&view.mirror_);
        fm_mirror_init(&view.mirror_, 0, &View::ops(), &view);
        view.starts_over_ = true;
        view.good_ = 0;
        ask(view);
    }

    bool is_asked_for(const View *view) const
    {
        return std::find(to_ask_.begin(), to_ask_.end(), view) != to_ask_.end();
    }

    std::unique_ptr<View> release(const View *view)
    {
        const auto found =
            std::find_if(views_.begin(), views_.end(),
                         [view](const std::unique_ptr<View> &one) { return one.get() == view; });
        std::unique_ptr<View> released = std::move(*found);
        views_.erase(found);
        forget_numbers(*released);
        return released;
    }

    // Not in a callback, which may be one of the view's own. One whose answer is to come waits for
    // it.
    void forget_views()
    {
        const auto done = std::partition(unwanted_.begin(), unwanted_.end(),
                                         [this](const View *view) { return is_asked_for(view); });
        std::for_each(done, unwanted_.end(), [this](const View *view) { release(view); });
        unwanted_.erase(done, unwanted_.end());
    }

    fm_client *client_;
    fm_client_welcome welcome_{};
    std::vector<std::unique_ptr<View>> views_;
    std::deque<View *> to_ask_; // the first of them is being answered
    std::vector<View *> unwanted_;
    std::unordered_set<std::uint64_t> leaving_; // subscriptions whose unsubscribe has no answer yet
    std::unordered_map<std::uint64_t, View *> by_number_; // of their subscriptions
    bool is_closing_ = false;
};

// ---- a view's messages --------------------------------------------------------------------------

// Two passes: the mirror takes the message, and then the callbacks find all of it as of its tick.
inline bool View::apply(fm_notification notification, const msgpack_object *params)
{
    const bool is_keyframe = notification == FM_NOTIFY_KEYFRAME;
    before_.clear();
    for (std::uint32_t i = 0; is_keyframe && i < mirror_.agent_count; i++) {
        before_.push_back(mirror_.agents[i].id);
    }
    moves_.clear();
    ends_.clear();
    alerts_.clear();
    died_.clear();
    if (fm_mirror_apply(&mirror_, notification, params) != FM_OK) {
        return false;
    }
    starts_over_ = starts_over_ && ++good_ < 64; // a server that goes on so would begin forever
    collect(is_keyframe, Fields(params));
    tell(is_keyframe, Fields(params));
    return true;
}

// Who came and who went.
inline void View::collect(bool is_keyframe, const Fields &params)
{
    come_.clear();
    gone_.clear();
    if (is_keyframe) {
        std::sort(before_.begin(), before_.end());
        for (std::uint32_t i = 0; i < mirror_.agent_count; i++) {
            const std::uint64_t id = mirror_.agents[i].id;
            const bool was_there = std::binary_search(before_.begin(), before_.end(), id);
            (was_there ? moves_ : come_).push_back(id);
        }
        for (const std::uint64_t id : before_) {
            if (find(id) == nullptr) {
                gone_.push_back({id, LeaveReason::outside});
            }
        }
        return;
    }
    const fm_numbers leave = fm_object_numbers(params.get(), "leave");
    for (std::uint32_t i = 0; i + 1 < leave.count; i += 2) {
        gone_.push_back(
            {fm_numbers_at(leave, i), static_cast<LeaveReason>(fm_numbers_at(leave, i + 1))});
    }
    const fm_numbers enter = fm_object_numbers(params.get(), "enter");
    for (std::uint32_t i = 0; i + 4 < enter.count; i += 5) {
        come_.push_back(fm_numbers_at(enter, i));
    }
}

inline void View::tell_cells(const Fields &params)
{
    const fm_numbers cells = fm_object_numbers(params.get(), "cells");
    for (std::uint32_t i = 0; i + 3 < cells.count; i += 4) {
        on_cells_changed(static_cast<std::uint32_t>(fm_numbers_at(cells, i)),
                         static_cast<std::uint32_t>(fm_numbers_at(cells, i + 1)),
                         static_cast<std::uint32_t>(fm_numbers_at(cells, i + 2)));
    }
}

// A run continues at the beginning of the next row.
inline void View::tell_sight(const Fields &params)
{
    const fm_numbers runs = fm_object_numbers(params.get(), "visible");
    for (std::uint32_t i = 0; i + 3 < runs.count; i += 4) {
        std::uint32_t x = static_cast<std::uint32_t>(fm_numbers_at(runs, i));
        std::uint32_t y = static_cast<std::uint32_t>(fm_numbers_at(runs, i + 1));
        std::uint32_t left = static_cast<std::uint32_t>(fm_numbers_at(runs, i + 2));
        while (left > 0) {
            const std::uint32_t count = std::min(left, rect().x + rect().width - x);
            on_sight_changed(x, y++, count);
            left -= count;
            x = rect().x;
        }
    }
}

inline void View::tell(bool is_keyframe, const Fields &params)
{
    const bool is_replaced = is_keyframe || params.has("rect");
    if (is_replaced && on_replaced) {
        on_replaced();
    }
    if (!is_replaced && on_cells_changed) {
        tell_cells(params);
    }
    if (!is_replaced && on_sight_changed && sight_) {
        tell_sight(params);
    }
    for (std::size_t i = 0; on_left && i < gone_.size(); i++) {
        on_left(gone_[i].id, gone_[i].reason);
    }
    for (std::size_t i = 0; on_entered && i < come_.size(); i++) {
        on_entered(*find(come_[i]));
    }
    for (std::size_t i = 0; on_moved && i < moves_.size(); i++) {
        on_moved(*find(moves_[i]));
    }
    if (on_buildings_changed && (is_keyframe || params.has("buildings"))) {
        on_buildings_changed();
    }
    for (std::size_t i = 0; on_order_ended && i < ends_.size(); i++) {
        on_order_ended(ends_[i]);
    }
    for (std::size_t i = 0; on_alerted && i < alerts_.size(); i++) {
        on_alerted(alerts_[i]);
    }
    for (std::size_t i = 0; on_died && i < died_.size(); i++) {
        on_died(died_[i]);
    }
    if (on_updated) {
        on_updated();
    }
}

} // namespace fogmarch
