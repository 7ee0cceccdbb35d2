// fogmarch/values.hpp: parameters that a game sends and values that come back, for
// <fogmarch/fogmarch.hpp>, which includes this: what it says of ownership, threads and errors holds
// here as well.

#pragma once

#include <fogmarch/fogmarch.h>

#include <cstdint>
#include <string>
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

} // namespace fogmarch
