#include "words/words.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>

namespace isinglass {
namespace {

constexpr size_t EIGHT = sizeof(uint64_t), FIRST_PLACES = 64, FREE_SHARE = 4, MOST_IN_BYTES = 254;

uint64_t mix(uint64_t hash, uint64_t bytes) {
    hash = (hash ^ bytes) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

// The first `count` bytes as a number, of at most eight.
uint64_t load(const char* bytes, size_t count) {
    uint64_t value = 0;
    if (count > 0) std::memcpy(&value, bytes, std::min(count, EIGHT));
    return value;
}

// The same where eight bytes can be read, in little-endian order: without a branch, because lengths of words cannot be
// predicted.
uint64_t load_all(const char* bytes, size_t count) {
    static constexpr std::array<uint64_t, EIGHT + 1> MASKS = [] {
        std::array<uint64_t, EIGHT + 1> masks{};
        for (size_t k = 1; k <= EIGHT; ++k) masks[k] = masks[k - 1] << 8 | 0xff;
        return masks;
    }();
    uint64_t value;
    std::memcpy(&value, bytes, EIGHT);
    return value & MASKS[std::min(count, EIGHT)];
}

uint64_t hash_of(uint64_t seed, std::string_view word, uint64_t head, uint64_t next) {
    uint64_t hash = mix(mix(seed ^ word.size(), head), next);
    for (size_t k = 2 * EIGHT; k < word.size(); k += EIGHT) hash = mix(hash, load(word.data() + k, word.size() - k));
    return hash;
}

}  // namespace

Words::Words() : places_(FIRST_PLACES, -1) {
    // No number depends on the seed; without it, a file could be made whose words all have one hash.
    std::random_device device;
    seed_ = uint64_t{device()} << 32 | device();
}

void Words::add(std::span<const int32_t> offsets, std::string_view text) {
    if (offsets.empty()) return;
    const bool are_within = offsets.front() >= 0 && static_cast<size_t>(offsets.back()) <= text.size();
    if (!are_within || !std::ranges::is_sorted(offsets))
        throw std::invalid_argument("offsets must increase and lie within the text");
    std::vector<int32_t> numbers(offsets.size() - 1);
    const uint64_t seed = seed_;
    const int32_t* places = places_.data();
    const Word* words = words_.data();
    size_t mask = places_.size() - 1;
    for (size_t k = 0; k < numbers.size(); ++k) {
        const std::string_view word(text.data() + offsets[k], offsets[k + 1] - offsets[k]);
        const size_t after = text.size() - offsets[k], beyond = word.size() - std::min(word.size(), EIGHT);
        uint64_t head, next;
        if (std::endian::native == std::endian::little && after >= 2 * EIGHT) {
            head = load_all(word.data(), word.size());
            next = load_all(word.data() + EIGHT, beyond);
        } else {
            head = load(word.data(), word.size());
            next = load(word.data() + (beyond ? EIGHT : 0), beyond);
        }
        size_t place = hash_of(seed, word, head, next) & mask;
        for (; places[place] >= 0; place = (place + 1) & mask) {
            const Word& other = words[places[place]];
            if (other.head == head && other.next == next && other.size == word.size() &&
                (word.size() <= 2 * EIGHT || (*this)[places[place]] == word))
                break;
        }
        numbers[k] = places[place];
        if (numbers[k] >= 0) continue;
        numbers[k] = add_word(word, head, next, place);
        places = places_.data(), words = words_.data(), mask = places_.size() - 1;
    }
    if (size() <= MOST_IN_BYTES) {
        bytes_.insert(bytes_.end(), numbers.begin(), numbers.end());
        return;
    }
    if (!bytes_.empty()) integers_.assign(bytes_.begin(), bytes_.end());
    bytes_ = {};
    integers_.insert(integers_.end(), numbers.begin(), numbers.end());
}

// The number of a new word, which is put in its place of the table.
int32_t Words::add_word(std::string_view word, uint64_t head, uint64_t next, size_t place) {
    if (size() == std::numeric_limits<int32_t>::max()) throw std::length_error("too many different words");
    const auto number = static_cast<int32_t>(size());
    words_.push_back({head, next, text_.size(), static_cast<uint32_t>(word.size())});
    text_ += word;
    if (FREE_SHARE * size() <= places_.size()) {
        places_[place] = number;
        return number;
    }
    places_.assign(2 * places_.size(), -1);
    const size_t mask = places_.size() - 1;
    for (int32_t k = 0; k <= number; ++k) {
        place = hash_of(seed_, (*this)[k], words_[k].head, words_[k].next) & mask;
        while (places_[place] >= 0) place = (place + 1) & mask;
        places_[place] = k;
    }
    return number;
}

}  // namespace isinglass
