// unreal_names.h: the names of Unreal that the actor of clients/cpp/UNREAL.md uses, enough to
// compile it and to play it without an engine. Included once, by the file that package_cpp.py
// writes.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <unordered_map>

typedef std::uint64_t uint64;
#define UPROPERTY(...)
#define TEXT(text)                       text
#define UTF8_TO_TCHAR(text)              text
#define UE_LOG(category, verbosity, ...) (std::printf(__VA_ARGS__), std::printf("\n"))

struct FVector {
    double X, Y, Z;
    FVector(double x, double y, double z) : X(x), Y(y), Z(z)
    {
    }
    FVector operator*(double factor) const
    {
        return FVector(X * factor, Y * factor, Z * factor);
    }
    static double Dist(const FVector &a, const FVector &b)
    {
        return std::hypot(a.X - b.X, a.Y - b.Y, a.Z - b.Z);
    }
};

struct FRotator {
    static const FRotator ZeroRotator;
};
inline const FRotator FRotator::ZeroRotator;

struct FMath {
    static FVector VInterpConstantTo(FVector from, FVector to, float seconds, float speed)
    {
        const double distance = FVector::Dist(from, to),
                     step = static_cast<double>(seconds * speed);
        const double part = distance <= step ? 1 : step / distance;
        return FVector(from.X + (to.X - from.X) * part, from.Y + (to.Y - from.Y) * part, from.Z);
    }
};

struct UClass {
};

template <class T> struct TSubclassOf {
    UClass *Class = nullptr;
    operator UClass *() const
    {
        return Class;
    }
};

struct UWorld;

class AActor
{
  public:
    virtual ~AActor() = default;
    virtual void BeginPlay()
    {
    }
    virtual void Tick(float)
    {
    }
    UWorld *GetWorld();
    FVector GetActorLocation() const
    {
        return at_;
    }
    void SetActorLocation(const FVector &at)
    {
        walked_ += FVector::Dist(at_, at);
        at_ = at;
    }
    void Destroy()
    {
        delete this;
    }
    double Walked() const
    {
        return walked_;
    }
    void Appear(const FVector &at)
    {
        at_ = at;
    }

  private:
    FVector at_ = FVector(0, 0, 0);
    double walked_ = 0;
};

struct UWorld {
    template <class T> T *SpawnActor(UClass *, const FVector &at, const FRotator &)
    {
        T *actor = new T;
        actor->Appear(at);
        return actor;
    }
};

inline UWorld *AActor::GetWorld()
{
    static UWorld world;
    return &world;
}

template <class Key, class Value> struct TMap {
    std::unordered_map<Key, Value> entries;
    void Add(Key key, Value value)
    {
        entries[key] = value;
    }
    Value FindAndRemoveChecked(Key key)
    {
        const Value value = entries.at(key);
        entries.erase(key);
        return value;
    }
    Value &operator[](Key key)
    {
        return entries.at(key);
    }
};

// Plays frames until three units have walked ten metres, or for ten seconds, and prints how many
// have.
template <class Actor> int Play(Actor &actor, const TMap<uint64, AActor *> &units)
{
    actor.BeginPlay();
    std::size_t walked = 0;
    for (int frame = 0; frame < 600 && walked < 3; frame++) {
        actor.Tick(0.016f);
        std::this_thread::sleep_for(std::chrono::milliseconds(16));
        walked = 0;
        for (const auto &[id, unit] : units.entries) {
            walked += unit->Walked() >= 1000;
        }
    }
    std::printf("%zu of %zu units walked\n", walked, units.entries.size());
    return 0;
}
