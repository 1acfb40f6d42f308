// Python bindings of the logistic regression: the arrays stay Python's and are kept alive by the object.
#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "published/glm.hpp"

using namespace isinglass;

using Starts = Line<int64_t>;
using RowNumbers = Line<int32_t>;

namespace {

// Everything the regression points to, and the regression.
struct Regression {
    Starts start;
    RowNumbers rows;
    std::optional<Vector> values;
    Vector y, w, factor, mean, scale;
    Lognet lognet;
};

void check_columns(const Starts& start, const RowNumbers& rows, const std::optional<Vector>& values, size_t n,
                   size_t q) {
    const int64_t stored = static_cast<int64_t>(rows.shape(0));
    require(start.shape(0) == q + 1 && start(0) == 0 && start(q) == stored,
            "one start per column, and one more, from 0 to the number of rows");
    for (size_t j = 0; j < q; ++j) require(start(j) <= start(j + 1), "starts must not decrease");
    for (int64_t k = 0; k < stored; ++k) require(rows(k) >= 0 && rows(k) < static_cast<int64_t>(n), "rows must exist");
    require(!values || values->shape(0) == rows.shape(0), "one value per stored row");
}

Regression* make_regression(const Starts& start, const RowNumbers& rows, std::optional<Vector> values, const Vector& y,
                            const Vector& w, const Vector& factor, const Vector& mean, const Vector& scale,
                            double threshold, int64_t max_passes, double min_probability, bool intercept, bool screen) {
    const size_t n = y.shape(0), q = factor.shape(0);
    require(w.shape(0) == n && mean.shape(0) == q && scale.shape(0) == q,
            "one weight per row; one factor, mean and scale per column");
    check_columns(start, rows, values, n, q);
    const Columns columns{start.data(), rows.data(), values ? values->data() : nullptr, static_cast<int>(n),
                          static_cast<int>(q)};
    Lognet lognet = unlocked([&] {
        return Lognet(columns, y.data(), w.data(), factor.data(), mean.data(), scale.data(),
                      {threshold, max_passes, min_probability, intercept, screen});
    });
    return new Regression{start, rows, values, y, w, factor, mean, scale, std::move(lognet)};
}

nb::tuple solve(Regression& regression, double lambda) {
    LognetState state = unlocked([&] { return regression.lognet.solve(lambda); });
    return nb::make_tuple(give(std::move(state.b)), state.intercept, state.loss, state.n_passes, state.n_outer,
                          state.n_strong, state.converged);
}

}  // namespace

void bind_glm(nb::module_& m) {
    nb::class_<Regression>(m, "Lognet")
        .def(nb::new_(&make_regression), nb::arg("start"), nb::arg("rows"), nb::arg("values").none(), nb::arg("y"),
             nb::arg("w"), nb::arg("factor"), nb::arg("mean"), nb::arg("scale"), nb::arg("threshold"),
             nb::arg("max_passes"), nb::arg("min_probability"), nb::arg("intercept"), nb::arg("screen"))
        .def("solve", &solve, nb::arg("lambda_"));
}
