// The words of a column of text, numbered in the order in which they first occur.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isinglass {

class Words {
 public:
    Words();

    // Numbers more cells: cell k is text[offsets[k], offsets[k + 1]). Throws std::invalid_argument, and numbers none of
    // them, if a cell is not within the text.
    void add(std::span<const int32_t> offsets, std::string_view text);

    size_t size() const { return words_.size(); }
    std::string_view operator[](size_t number) const {
        return {text_.data() + words_[number].begin, words_[number].size};
    }

    // The number of every cell: as bytes while one more word would fit, else as integers. The other vector is empty.
    const std::vector<uint8_t>& bytes() const { return bytes_; }
    const std::vector<int32_t>& integers() const { return integers_; }

 private:
    struct Word {
        uint64_t head, next;  // its first 16 bytes, 0 beyond its end
        size_t begin;         // in text_
        uint32_t size;
    };

    int32_t add_word(std::string_view word, uint64_t head, uint64_t next, size_t place);

    uint64_t seed_;  // of the hashes
    std::vector<Word> words_;
    std::string text_;             // of all words
    std::vector<int32_t> places_;  // the hash table: numbers of words, -1 where it is free, at least three quarters
    std::vector<uint8_t> bytes_;
    std::vector<int32_t> integers_;
};

}  // namespace isinglass
