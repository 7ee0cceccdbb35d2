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
#include <fogmarch/values.hpp>
#include <fogmarch/view.hpp>

#include <algorithm>
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

    // ---- views -----------------------------------------------------------------------------

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

} // namespace fogmarch
