// Words of a column of text, which come as the buffers of a string array of Arrow.
#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "words/words.hpp"

using namespace isinglass;

void bind_words(nb::module_& m) {
    nb::class_<Words>(m, "Words")
        .def(nb::init<>())
        .def(
            "add",
            [](Words& words, const Line<int32_t>& offsets, const Codes& text) {
                const std::string_view bytes(reinterpret_cast<const char*>(text.data()), text.shape(0));
                words.add({offsets.data(), offsets.shape(0)}, bytes);
            },
            nb::arg("offsets").noconvert(), nb::arg("text").noconvert())
        .def("__len__", &Words::size)
        .def_prop_ro("codes",
                     [](const Words& words) -> nb::object {
                         if (words.integers().empty()) return nb::cast(give(words.bytes()));
                         return nb::cast(give(words.integers()));
                     })
        .def_prop_ro("words", [](const Words& words) {
            nb::list found;
            for (size_t k = 0; k < words.size(); ++k) {
                const auto size = static_cast<Py_ssize_t>(words[k].size());
                const nb::object word = nb::steal(PyUnicode_DecodeUTF8(words[k].data(), size, "strict"));
                if (!word.is_valid()) throw nb::python_error();
                found.append(word);
            }
            return found;
        });
}
