#include <doctest/doctest.h>

#include <map>
#include <random>
#include <stdexcept>

#include "words/words.hpp"

using namespace isinglass;

namespace {

std::vector<int32_t> codes_of(const Words& words) {
    CHECK((words.bytes().empty() || words.integers().empty()));
    std::vector<int32_t> codes(words.bytes().begin(), words.bytes().end());
    codes.insert(codes.end(), words.integers().begin(), words.integers().end());
    return codes;
}

}  // namespace

TEST_CASE("words are numbered in the order in which they occur") {
    std::mt19937 random(1);
    for (const uint32_t n_words : {1u, 5u, 254u, 255u, 3000u}) {
        // Lengths around 8 and 16, where the comparison changes; many words have equal beginnings, and NUL is a byte.
        std::vector<std::string> vocabulary;
        for (uint32_t k = 0; k < n_words; ++k)
            vocabulary.push_back(std::string(random() % 40, static_cast<char>(random() % 3)) +
                                 std::to_string(k % 1000));
        Words words;
        std::map<std::string, int32_t> numbers;
        std::vector<std::string> found;
        std::vector<int32_t> expected;
        for (int block = 0; block < 20; ++block) {
            std::string text = "before";  // as in a slice
            std::vector<int32_t> offsets{6};
            const size_t n_cells = random() % 1000;
            for (size_t k = 0; k < n_cells; ++k) {
                const std::string word = random() % 10 ? vocabulary[random() % n_words] : "";
                const auto [entry, is_new] = numbers.try_emplace(word, static_cast<int32_t>(numbers.size()));
                if (is_new) found.push_back(word);
                expected.push_back(entry->second);
                text += word;
                offsets.push_back(static_cast<int32_t>(text.size()));
            }
            const std::vector<char> exact(text.begin(), text.end());  // a sanitizer sees what is read beyond its end
            words.add(offsets, {exact.data(), exact.size()});
        }
        CHECK(codes_of(words) == expected);
        CHECK(words.bytes().empty() == (found.size() > 254));
        REQUIRE(words.size() == found.size());
        for (size_t k = 0; k < found.size(); ++k) CHECK(words[k] == found[k]);
    }
}

TEST_CASE("offsets that are not within the text are refused, and nothing is numbered") {
    for (const std::vector<int32_t>& offsets :
         std::vector<std::vector<int32_t>>{{0, 4}, {-1, 2}, {2, 1}, {0, 3, 1, 3}, {4, 4}}) {
        Words words;
        CHECK_THROWS_AS(words.add(offsets, "abc"), std::invalid_argument);
        CHECK(words.size() == 0);
        CHECK(codes_of(words).empty());
    }
}

TEST_CASE("no cells and empty cells") {
    Words words;
    words.add({}, {});
    words.add(std::vector<int32_t>{0}, {});
    CHECK(words.size() == 0);
    words.add(std::vector<int32_t>{0, 0, 0}, {});
    CHECK(codes_of(words) == std::vector<int32_t>{0, 0});
    CHECK(words[0].empty());
}
