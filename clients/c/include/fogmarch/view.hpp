// fogmarch/view.hpp: what a team sees, with a function for each thing that changes, for
// <fogmarch/fogmarch.hpp>, which includes this: what it says of ownership and threads holds here as
// well.

#pragma once

#include <fogmarch/values.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fogmarch
{

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
    /// Its tag is another, or was removed; after a keyframe: it has one, or had. See tag().
    std::function<void(const fm_mirror_agent &agent)> on_tagged;
    /// Others stand in mirror().buildings, so many as its building_count.
    std::function<void()> on_buildings_changed;
    /// More orders ended, or alerts came, than the server keeps for a view. Those that were kept
    /// come with the next message, the others never; agent.report tells which orders units have.
    std::function<void()> on_untold;
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
    /// The bytes of an agent's tag (agent.set); empty: it has none, or is not in view.
    std::string tag(std::uint64_t id) const
    {
        const fm_mirror_agent *agent = find(id);
        std::uint32_t size = 0;
        const std::uint8_t *bytes =
            agent == nullptr ? nullptr : fm_mirror_tag_of(&mirror_, agent, &size);
        return bytes == nullptr ? std::string() : std::string(bytes, bytes + size);
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
    void remember();
    void remember_told(const Fields &params);
    void collect_tags(const Fields &params);
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
    bool remembers_ = false;   // before_ and tagged_ hold what a keyframe is compared with
    bool starts_over_ = false; // it was subscribed to again, until enough messages were good
    std::uint32_t good_ = 0;   // messages since then
    std::string moved_to_;
    fm_mirror mirror_;
    std::vector<std::uint64_t> before_, come_, moves_, tagged_,
        died_; // kept, so that a tick costs no memory
    std::vector<Gone> gone_;
    std::vector<fm_mirror_ended> ends_;
    std::vector<fm_mirror_alert> alerts_;
};

// ---- a view's messages --------------------------------------------------------------------------

// Two passes: the mirror takes the message, and then the callbacks find all of it as of its tick.
inline bool View::apply(fm_notification notification, const msgpack_object *params)
{
    const bool is_keyframe = notification == FM_NOTIFY_KEYFRAME;
    const std::uint64_t deltas = mirror_.deltas;
    if (is_keyframe && !remembers_) {
        remember();
    }
    if (!is_keyframe && !remembers_) {
        tagged_.clear();
    }
    moves_.clear();
    ends_.clear();
    alerts_.clear();
    died_.clear();
    if (fm_mirror_apply(&mirror_, notification, params) != FM_OK) {
        if (!remembers_) {
            remember_told(mirror_.deltas == deltas ? Fields() : Fields(params));
        }
        return false;
    }
    remembers_ = false;
    starts_over_ = starts_over_ && ++good_ < 64; // a server that goes on so would begin forever
    collect(is_keyframe, Fields(params));
    if (on_tagged) {
        collect_tags(Fields(params));
    }
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

// Who is there and who has a tag, before a keyframe that does not say who has gone, or has none any
// more. It is kept until a keyframe was applied, also while the mirror is empty.
inline void View::remember()
{
    before_.clear();
    tagged_.clear();
    remembers_ = true;
    for (std::uint32_t i = 0; i < mirror_.agent_count; i++) {
        std::uint32_t size = 0;
        before_.push_back(mirror_.agents[i].id);
        if (fm_mirror_tag_of(&mirror_, &mirror_.agents[i], &size) != nullptr) {
            tagged_.push_back(mirror_.agents[i].id);
        }
    }
}

// The same when a delta was applied in part: nobody was told who has come and gone with it.
inline void View::remember_told(const Fields &params)
{
    remember();
    const fm_numbers enter = fm_object_numbers(params.get(), "enter");
    for (std::uint32_t i = 0; i + 4 < enter.count; i += 5) {
        before_.erase(std::remove(before_.begin(), before_.end(), fm_numbers_at(enter, i)),
                      before_.end());
    }
    const fm_numbers leave = fm_object_numbers(params.get(), "leave");
    for (std::uint32_t i = 0; i + 1 < leave.count; i += 2) {
        if (find(fm_numbers_at(leave, i)) == nullptr) {
            before_.push_back(fm_numbers_at(leave, i));
        }
    }
}

inline void View::collect_tags(const Fields &params)
{
    const fm_numbers tagged = fm_object_numbers(params.get(), "tagged");
    for (std::uint32_t i = 0; i + 1 < tagged.count; i += 2) {
        tagged_.push_back(fm_numbers_at(tagged, i));
    }
    std::sort(tagged_.begin(), tagged_.end());
    tagged_.erase(std::unique(tagged_.begin(), tagged_.end()), tagged_.end());
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
    for (std::size_t i = 0; on_tagged && i < tagged_.size(); i++) {
        if (const fm_mirror_agent *agent = find(tagged_[i])) { // it may have left
            on_tagged(*agent);
        }
    }
    if (on_buildings_changed && (is_keyframe || params.has("buildings"))) {
        on_buildings_changed();
    }
    if (on_untold && is_keyframe && params.boolean("untold")) {
        on_untold();
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
