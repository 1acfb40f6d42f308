// The rows of this computer as a Python object with the methods that python_rows.cpp asks for: a part of a table, in
// this process or another.
#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "rows/recipe_storage.hpp"

namespace isinglass {
namespace {

class CpuRows {
 public:
    // n_kept: with recipes, see byte_rows; rare: the share of ones below which lists of them are kept.
    CpuRows(const Bytes& X, const std::optional<Vector>& weights, double total, int n_threads,
            std::optional<int> n_kept, double rare)
        : pool_(n_threads, poll_) {
        require(X.shape(0) > 0 && X.shape(1) > 0, "a part must have rows");
        const TableView given = to_given(X, weights);
        const nb::gil_scoped_release release;
        const auto table = std::make_shared<const Table>(given, total);
        n_features_ = table->n_features, n_distinct_ = table->n_distinct;
        require(n_distinct_ > 0, "a part must have a row with weight");
        if (!n_kept)
            made_.rows = kept_rows(pool_, table, Holds::all_nodes);
        else
            made_ = share_of_ones(*table) < rare ? ones_rows(pool_, *table) : byte_rows(pool_, table, *n_kept);
    }

    Rows& seam() {
        poll_.begin();
        return *made_.rows;
    }
    RecipeState& recipes() {
        poll_.begin();
        require(made_.state, "these rows keep no recipes");
        return *made_.state;
    }
    bool is_sparse() const { return made_.is_sparse; }
    int n_features() const { return n_features_; }
    int n_distinct() const { return n_distinct_; }
    // How many columns are given, each of the table.
    size_t checked(const Line<int32_t>& columns) const {
        for (size_t k = 0; k < columns.shape(0); ++k)
            require(columns(k) >= 0 && columns(k) < n_features_, "a column must lie in the table");
        return columns.shape(0);
    }
    bool remembers = false;

 private:
    Poll poll_;
    Pool pool_;
    int n_features_ = 0, n_distinct_ = 0;
    RecipeRows made_;
};

// A call of the seam on some nodes.
template <auto call, class... Given>
auto of_nodes(CpuRows& rows, const Line<int32_t>& nodes, Given... given) {
    return (rows.seam().*call)({nodes.data(), rows.checked(nodes)}, given...);
}

void remember(CpuRows& rows, const Line<int32_t>& nodes) {
    of_nodes<&Rows::remember>(rows, nodes);
    rows.remembers = true;
}

// The columns beside each of so many nodes.
std::vector<NeighborColumns> neighbors(const CpuRows& rows, size_t n_nodes, const Line<int64_t>& begin,
                                       const Line<int32_t>& columns) {
    const auto n_columns = static_cast<int64_t>(rows.checked(columns));
    require(begin.shape(0) == n_nodes + 1 && begin(0) == 0 && begin(n_nodes) == n_columns,
            "begin must divide the columns among the nodes");
    std::vector<NeighborColumns> found;
    for (size_t k = 0; k < n_nodes; ++k) {
        require(begin(k) <= begin(k + 1), "begin must not decrease");
        found.push_back({columns.data() + begin(k), static_cast<int>(begin(k + 1) - begin(k))});
    }
    return found;
}

nb::tuple margins(CpuRows& rows) {
    const Margins& margins = rows.seam().margins();
    return nb::make_tuple(give(margins.mean), give(margins.rest));
}

nb::tuple move(CpuRows& rows, const Line<int32_t>& nodes, const Line<double>& offsets, const Line<int64_t>& moved_begin,
               const Line<int32_t>& moved, const Line<double>& coefficients, const Line<int64_t>& asked_begin,
               const Line<int32_t>& asked, bool afresh) {
    const size_t count = rows.checked(nodes);
    const std::vector<NeighborColumns> moves = neighbors(rows, count, moved_begin, moved),
                                       asks = neighbors(rows, count, asked_begin, asked);
    require(offsets.shape(0) == count && coefficients.shape(0) == moved.shape(0),
            "one offset per node and one coefficient per column");
    std::vector<double> values, gradients(asked.shape(0));
    std::vector<NodeSums> sums(count);
    std::vector<Move> tasks;
    for (size_t k = 0; k < count; ++k)
        tasks.push_back({nodes(k), offsets(k), &sums[k], moves[k], coefficients.data() + moved_begin(k), asks[k],
                         gradients.data() + asked_begin(k)});
    unlocked([&] { rows.seam().move(tasks, afresh); });
    for (const NodeSums& node : sums) values.insert(values.end(), {node.loss, node.curve, node.zeros, node.ones});
    return nb::make_tuple(to_numpy<double>(std::move(values), {count, 4}), give(std::move(gradients)));
}

auto gradients(CpuRows& rows, const Line<int32_t>& nodes, const Line<int64_t>& begin, const Line<int32_t>& columns) {
    const std::vector<NeighborColumns> asks = neighbors(rows, rows.checked(nodes), begin, columns);
    std::vector<double> values(columns.shape(0));
    std::vector<Gradient> tasks;
    for (size_t k = 0; k < asks.size(); ++k) tasks.push_back({nodes(k), asks[k], values.data() + begin(k)});
    unlocked([&] { rows.seam().gradients(tasks); });
    return give(std::move(values));
}

// Rows of a block are padded, as the kernels want them; across the border they are not.
template <bool is_whole>
nb::tuple second_derivatives(CpuRows& rows, const Line<int32_t>& nodes, const Line<int64_t>& begin,
                             const Line<int32_t>& columns, bool majorized) {
    const std::vector<NeighborColumns> inner = neighbors(rows, rows.checked(nodes), begin, columns);
    std::vector<float> values, b(columns.shape(0)), diagonal(is_whole ? 0 : columns.shape(0));
    std::vector<double> curve(inner.size());
    const auto stride = [&](size_t k) { return (inner[k].count + 15) / 16 * 16; };
    size_t size = 0;
    for (size_t k = 0; is_whole && k < inner.size(); ++k) size += static_cast<size_t>(inner[k].count) * stride(k);
    Buffer<float> padded(size);
    float* next = padded.data();
    std::vector<Block> tasks;
    for (size_t k = 0; k < inner.size(); ++k) {
        tasks.push_back({nodes(k), inner[k], is_whole ? next : nullptr, stride(k), b.data() + begin(k),
                         diagonal.data() + (is_whole ? 0 : begin(k)), &curve[k]});
        if (is_whole) next += static_cast<size_t>(inner[k].count) * stride(k);
    }
    unlocked([&] { rows.seam().blocks(tasks, majorized ? Curvature::majorized : Curvature::own); });
    for (size_t k = 0; is_whole && k < inner.size(); ++k)
        for (int i = 0; i < inner[k].count; ++i) {
            const float* line = tasks[k].G + static_cast<size_t>(i) * stride(k);
            values.insert(values.end(), line, line + inner[k].count);
        }
    return nb::make_tuple(give(is_whole ? std::move(values) : std::move(diagonal)), give(std::move(b)),
                          give(std::move(curve)));
}

auto products(CpuRows& rows, const Line<int32_t>& nodes, const Line<int64_t>& begin, const Line<int32_t>& columns,
              const Line<float>& d, const Line<double>& centers, bool is_rough) {
    const std::vector<NeighborColumns> inner = neighbors(rows, rows.checked(nodes), begin, columns);
    require(d.shape(0) == columns.shape(0) && centers.shape(0) == inner.size(),
            "one number per column and one center per node");
    std::vector<float> values(columns.shape(0));
    std::vector<Product> tasks;
    for (size_t k = 0; k < inner.size(); ++k)
        tasks.push_back({nodes(k), inner[k], d.data() + begin(k), centers(k), values.data() + begin(k), is_rough});
    unlocked([&] { rows.seam().products()->multiply(tasks); });
    return give(std::move(values));
}

auto gram(CpuRows& rows, int node, const Line<int32_t>& columns) {
    require(node >= 0 && node < rows.n_features(), "a node must lie in the table");
    const size_t count = rows.checked(columns), width = count + 1;
    const NeighborColumns neighbors{columns.data(), static_cast<int>(count)};
    return to_numpy<double>(unlocked([&] { return rows.seam().gram(node, neighbors); }), {width, width});
}

auto drift(CpuRows& rows, const Line<int32_t>& nodes) {
    require(rows.remembers, "drift is measured from what was remembered");
    std::vector<double> values;
    for (const ResidualDrift& moved : unlocked([&] { return of_nodes<&Rows::drift>(rows, nodes); }))
        values.insert(values.end(), {moved.square, moved.sum});
    return to_numpy<double>(std::move(values), {nodes.shape(0), 2});
}

nb::tuple all_pairs(CpuRows& rows, int first, int last) {
    const int p = rows.n_features();
    require(first >= 0 && first <= last && last <= p, "lines must lie in the table");
    std::vector<float> band(first_of_row(last, p) - first_of_row(first, p));
    const double slack = unlocked([&] { return rows.seam().all_pairs(first, last, band.data()); });
    return nb::make_tuple(give(std::move(band)), slack);
}

// Recipes as flat arrays: offsets, where each node's columns begin, the columns and their coefficients.
nb::tuple flatten(const std::vector<Recipe>& recipes) {
    std::vector<double> offsets, coefficients;
    std::vector<int64_t> begin{0};
    std::vector<int32_t> columns;
    for (const Recipe& recipe : recipes) {
        offsets.push_back(recipe.offset);
        columns.insert(columns.end(), recipe.column.begin(), recipe.column.end());
        coefficients.insert(coefficients.end(), recipe.coefficient.begin(), recipe.coefficient.end());
        begin.push_back(static_cast<int64_t>(columns.size()));
    }
    return nb::make_tuple(give(std::move(offsets)), give(std::move(begin)), give(std::move(columns)),
                          give(std::move(coefficients)));
}

std::vector<Recipe> read_recipes(const CpuRows& rows, nb::handle given) {
    const nb::tuple flat = nb::cast<nb::tuple>(given);
    require(flat.size() == 4, "recipes are four arrays");
    const auto offsets = nb::cast<Line<double>>(flat[0]);
    const auto begin = nb::cast<Line<int64_t>>(flat[1]);
    const auto columns = nb::cast<Line<int32_t>>(flat[2]);
    const auto coefficients = nb::cast<Line<double>>(flat[3]);
    require(offsets.shape(0) == static_cast<size_t>(rows.n_features()) && coefficients.shape(0) == columns.shape(0),
            "a recipe per column");
    std::vector<Recipe> recipes;
    for (const NeighborColumns& listed : neighbors(rows, offsets.shape(0), begin, columns)) {
        const double* first = coefficients.data() + (listed.column - columns.data());
        recipes.push_back(
            {offsets(recipes.size()), {listed.column, listed.column + listed.count}, {first, first + listed.count}});
    }
    return recipes;
}

nb::tuple state(CpuRows& rows) {
    const Recipes& state = rows.recipes().state();
    return nb::make_tuple(flatten(state.now), flatten(state.remembered), flatten(state.modeled), give(state.majorized),
                          rows.remembers);
}

void restore(CpuRows& rows, const nb::tuple& given) {
    require(given.size() == 5, "a state has five members");
    const auto majorized = nb::cast<Line<uint8_t>>(given[3]);
    require(majorized.shape(0) == static_cast<size_t>(rows.n_features()), "a byte per column");
    Recipes state;
    state.now = read_recipes(rows, given[0]);
    state.remembered = read_recipes(rows, given[1]);
    state.modeled = read_recipes(rows, given[2]);
    state.majorized.assign(majorized.data(), majorized.data() + majorized.shape(0));
    rows.remembers = nb::cast<bool>(given[4]);
    const nb::gil_scoped_release release;
    rows.recipes().restore(std::move(state));
}

}  // namespace
}  // namespace isinglass

using namespace isinglass;

void bind_rows(nb::module_& m) {
    using Release = nb::call_guard<nb::gil_scoped_release>;
    using nb::arg;
    nb::class_<CpuRows>(m, "CpuRows")
        .def(nb::init<const Bytes&, const std::optional<Vector>&, double, int, std::optional<int>, double>(), arg("X"),
             arg("weights").none(), arg("total"), arg("n_threads"), arg("n_kept") = nb::none(), arg("rare") = 0.0)
        .def("n_distinct", &CpuRows::n_distinct)
        .def("margins", &margins)
        .def("rounding", [](CpuRows& rows) { return rows.seam().rounding(); })
        .def("move", &move, arg("nodes"), arg("offsets"), arg("moved_begin"), arg("moved"), arg("coefficients"),
             arg("asked_begin"), arg("asked"), arg("afresh"))
        .def("gradients", &gradients, arg("nodes"), arg("begin"), arg("columns"))
        .def("blocks", &second_derivatives<true>, arg("nodes"), arg("begin"), arg("columns"), arg("majorized"))
        .def("diagonals", &second_derivatives<false>, arg("nodes"), arg("begin"), arg("columns"), arg("majorized"))
        .def("products", &products, arg("nodes"), arg("begin"), arg("columns"), arg("d"), arg("centers"),
             arg("is_rough") = false)
        .def("divergence", &of_nodes<&Rows::divergence, double>, arg("nodes"), arg("c"), Release())
        .def("largest_predictor", &of_nodes<&Rows::largest_predictor>, arg("nodes"), Release())
        .def("gram", &gram, arg("node"), arg("columns"))
        .def("remember", &remember, arg("nodes"), Release())
        .def("drift", &drift, arg("nodes"))
        .def("all_pairs", &all_pairs, arg("first"), arg("last"))
        .def("is_sparse", &CpuRows::is_sparse)
        .def("state", &state)
        .def("restore", &restore, arg("state"));
}
