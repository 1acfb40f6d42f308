// Python bindings of the logistic regression: the arrays stay Python's and are kept alive by the object.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "published/glm.hpp"

using namespace isinglass;

using Starts = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

namespace {

// Everything the regression points to, and the regression.
struct Regression {
    std::optional<Starts> start;
    std::optional<Rows> rows;
    std::optional<Vector> values;
    Vector y, w, factor, mean, scale;
    Lognet lognet;
};

void check_columns(const std::optional<Starts>& start, const std::optional<Rows>& rows,
                   const std::optional<Vector>& values, size_t n, size_t q) {
    if (!start) {
        if (!values || values->shape(0) != n * q) throw std::invalid_argument("n_rows * n_columns values");
        return;
    }
    if (start->shape(0) != q + 1 || !rows) throw std::invalid_argument("one start per column, and one more");
    const int64_t stored = static_cast<int64_t>(rows->shape(0));
    if ((*start)(0) != 0 || (*start)(q) != stored)
        throw std::invalid_argument("starts from 0 to the number of rows");
    for (size_t j = 0; j < q; ++j)
        if ((*start)(j) > (*start)(j + 1)) throw std::invalid_argument("starts must not decrease");
    for (int64_t k = 0; k < stored; ++k)
        if ((*rows)(k) < 0 || (*rows)(k) >= static_cast<int64_t>(n))
            throw std::invalid_argument("rows must exist");
    if (values && values->shape(0) != rows->shape(0)) throw std::invalid_argument("one value per stored row");
}

Regression* make_regression(std::optional<Starts> start, std::optional<Rows> rows,
                            std::optional<Vector> values, const Vector& y, const Vector& w,
                            const Vector& factor, const Vector& mean, const Vector& scale, double threshold,
                            int64_t max_passes, double min_probability, bool intercept, bool screen) {
    const size_t n = y.shape(0), q = factor.shape(0);
    if (w.shape(0) != n || mean.shape(0) != q || scale.shape(0) != q)
        throw std::invalid_argument("one weight per row; one factor, mean and scale per column");
    check_columns(start, rows, values, n, q);
    const Columns columns{start ? start->data() : nullptr, rows ? rows->data() : nullptr,
                          values ? values->data() : nullptr, static_cast<int>(n), static_cast<int>(q)};
    nb::gil_scoped_release release;
    Lognet lognet(columns, y.data(), w.data(), factor.data(), mean.data(), scale.data(),
                  {threshold, max_passes, min_probability, intercept, screen});
    nb::gil_scoped_acquire acquire;  // copying the handles of the arrays counts references
    return new Regression{start, rows, values, y, w, factor, mean, scale, std::move(lognet)};
}

nb::tuple solve(Regression& regression, double lambda) {
    LognetState state;
    {
        nb::gil_scoped_release release;
        state = regression.lognet.solve(lambda);
    }
    return nb::make_tuple(doubles_to_numpy(std::move(state.b)), state.intercept, state.loss, state.n_passes,
                          state.n_outer, state.n_strong, state.converged);
}

}  // namespace

void bind_glm(nb::module_& m) {
    nb::class_<Regression>(m, "Lognet")
        .def(nb::new_(&make_regression), nb::arg("start").none(), nb::arg("rows").none(),
             nb::arg("values").none(), nb::arg("y"), nb::arg("w"), nb::arg("factor"), nb::arg("mean"),
             nb::arg("scale"), nb::arg("threshold"), nb::arg("max_passes"), nb::arg("min_probability"),
             nb::arg("intercept"), nb::arg("screen"))
        .def("solve", &solve, nb::arg("lambda_"));
}
