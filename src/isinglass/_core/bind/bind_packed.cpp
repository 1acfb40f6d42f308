// Python bindings of packed columns, for the tests that hold every instruction set against NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "rows/packed.hpp"

using namespace isinglass;

namespace {

struct PackedTable {
    PackedTable(const Bytes& X, const Line<int32_t>& columns)
        : table(X.data(), nullptr, X.shape(0), static_cast<int>(X.shape(1))) {
        if (static_cast<size_t>(table.n_distinct) != X.shape(0))
            throw std::invalid_argument("rows must be distinct: equal ones are merged");
        packed.pack(table.bits(), columns.data(), static_cast<int>(columns.shape(0)), kernels());
    }
    Table table;
    PackedColumns packed;
};

template <class T>
Buffer<T> fill_up(const Line<T>& values, int wanted, size_t room) {
    if (values.shape(0) != static_cast<size_t>(wanted)) throw std::invalid_argument("wrong length");
    Buffer<T> line(room);
    std::copy(values.data(), values.data() + wanted, line.data());
    return line;
}

template <class T>
auto multiply(const PackedTable& t, const Line<T>& d) {
    const Buffer<T> coefficients = fill_up(d, t.packed.size(), 32 * t.packed.groups());
    Buffer<T> z(t.table.stride);
    t.packed.add(coefficients.data(), t.table.stride, z.data(), kernels());
    return doubles_to_numpy({z.data(), z.data() + t.table.n_distinct});
}

template <class T>
auto sums(const PackedTable& t, const Line<T>& a) {
    const Buffer<T> line = fill_up(a, t.table.n_distinct, size_t{32} * t.table.bits().n_words);
    Buffer<T> out(t.packed.lanes());
    t.packed.sums(line.data(), out.data(), kernels());
    return doubles_to_numpy({out.data(), out.data() + t.packed.size()});
}

auto all_sums(const PackedTable& t, const Line<double>& a) {
    const Buffer<double> line = fill_up(a, t.table.n_distinct, size_t{32} * t.table.bits().n_words);
    Buffer<double> out(t.table.bits().width);
    t.table.bits().sums(line.data(), out.data(), kernels());
    return doubles_to_numpy({out.data(), out.data() + t.table.n_features});
}

}  // namespace

void bind_packed(nb::module_& m) {
    nb::class_<PackedTable>(m, "PackedTable")
        .def(nb::init<const Bytes&, const Line<int32_t>&>(), nb::arg("X"), nb::arg("columns"))
        .def("multiply", &multiply<double>, nb::arg("d").noconvert())
        .def("multiply", &multiply<float>, nb::arg("d").noconvert())
        .def("sums", &sums<double>, nb::arg("a").noconvert())
        .def("sums", &sums<float>, nb::arg("a").noconvert())
        .def("all_sums", &all_sums, nb::arg("a").noconvert());
}
