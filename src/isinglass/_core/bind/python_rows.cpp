// Rows written in Python: each call of the seam is a method of an object. One call is one batch: a list of nodes, and
// where something belongs to each of them (columns, coefficients, answers), one flat array in which that of node k lies
// from begin[k] to begin[k + 1]. solve/rows.py documents the methods.
#include <cmath>
#include <string>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "rows/rows.hpp"

namespace isinglass {
namespace {

// A number of every task.
template <class Task, class T>
auto list_of(std::span<const Task> tasks, T Task::* member) {
    std::vector<T> values;
    for (const Task& task : tasks) values.push_back(task.*member);
    return give(std::move(values));
}

// The columns of all tasks, and the numbers that belong to them.
template <class Task>
class Batch {
 public:
    Batch(std::span<const Task> tasks, NeighborColumns Task::* neighbors) : tasks_(tasks), beside_(neighbors) {}

    auto begin() const {
        std::vector<int64_t> begin{0};
        for (const Task& task : tasks_) begin.push_back(begin.back() + (task.*beside_).count);
        return give(std::move(begin));
    }
    auto columns() const {
        return join([&](const Task& task) { return (task.*beside_).column; });
    }
    template <class T>
    auto values(const T* Task::* member) const {
        return join([&](const Task& task) { return task.*member; });
    }
    size_t size() const {
        size_t sum = 0;
        for (const Task& task : tasks_) sum += (task.*beside_).count;
        return sum;
    }
    template <class T>
    void hand_out(const Line<T>& values, T* Task::* member) const {
        const T* next = values.data();
        for (const Task& task : tasks_) {
            std::copy(next, next + (task.*beside_).count, task.*member);
            next += (task.*beside_).count;
        }
    }

 private:
    template <class Values>
    auto join(Values values) const {
        std::vector<std::remove_cvref_t<decltype(*values(tasks_[0]))>> all;
        for (const Task& task : tasks_) all.insert(all.end(), values(task), values(task) + (task.*beside_).count);
        return give(std::move(all));
    }
    std::span<const Task> tasks_;
    NeighborColumns Task::* beside_;
};

template <class T>
Line<T> read(nb::handle answer, size_t size, const char* call) {
    Line<T> line;
    if (!nb::try_cast(answer, line) || line.shape(0) != size)
        throw std::invalid_argument(std::string("rows.") + call + " must answer with flat arrays; expected one of " +
                                    std::to_string(size) + " numbers");
    return line;
}

class PythonRows final : public Rows, public ProductRows, public ScanRows {
 public:
    explicit PythonRows(nb::object rows) : rows_(std::move(rows)), scans_(nb::hasattr(rows_, "scan")) {
        const nb::object shares = rows_.attr("margins")();
        const size_t p = nb::len(nb::object(shares[0]));
        const Line<double> mean = read<double>(shares[0], p, "margins"), rest = read<double>(shares[1], p, "margins");
        margins_ = {{mean.data(), mean.data() + p}, {rest.data(), rest.data() + p}, std::vector<double>(p)};
        for (size_t s = 0; s < p; ++s) margins_.sd[s] = std::sqrt(margins_.mean[s] * margins_.rest[s]);
        rounding_ = nb::cast<double>(rows_.attr("rounding")());
    }

    const Margins& margins() const override { return margins_; }
    double rounding() const override { return rounding_; }
    ScanRows* scans() override { return scans_ ? this : nullptr; }
    ProductRows* products() override { return this; }

    void move(std::span<const Move> tasks, bool afresh) override {
        if (tasks.empty()) return;
        const nb::gil_scoped_acquire acquire;
        const Batch moved(tasks, &Move::moved), asked(tasks, &Move::asked);
        const nb::object answer = rows_.attr("move")(list_of(tasks, &Move::node), list_of(tasks, &Move::offset),
                                                     moved.begin(), moved.columns(), moved.values(&Move::coefficient),
                                                     asked.begin(), asked.columns(), afresh);
        const Line<double> sums = read<double>(answer[0].attr("reshape")(-1), 4 * tasks.size(), "move");
        for (size_t k = 0; k < tasks.size(); ++k) {
            const double zeros = sums(4 * k + 2), ones = sums(4 * k + 3);
            *tasks[k].sums = {sums(4 * k), zeros - ones, sums(4 * k + 1), zeros, ones};
        }
        asked.hand_out(read<double>(answer[1], asked.size(), "move"), &Move::gradient);
    }

    void gradients(std::span<const Gradient> tasks) override {
        if (tasks.empty()) return;
        const nb::gil_scoped_acquire acquire;
        const Batch asked(tasks, &Gradient::asked);
        const nb::object answer =
            rows_.attr("gradients")(list_of(tasks, &Gradient::node), asked.begin(), asked.columns());
        asked.hand_out(read<double>(answer, asked.size(), "gradients"), &Gradient::gradient);
    }

    void blocks(std::span<const Block> tasks, Curvature curvature) override {
        const nb::gil_scoped_acquire acquire;
        std::vector<Block> whole, diagonal;
        for (const Block& task : tasks) (task.G || task.inner.count == 0 ? whole : diagonal).push_back(task);
        ask_blocks(whole, true, curvature);
        ask_blocks(diagonal, false, curvature);
    }

    void multiply(std::span<const Product> tasks, const Fill& fill) override {
        if (tasks.empty()) return;
        for (size_t k = 0; k < tasks.size(); ++k) fill(k);
        const nb::gil_scoped_acquire acquire;
        const Batch inner(tasks, &Product::inner);
        const nb::object answer = rows_.attr("products")(list_of(tasks, &Product::node), inner.begin(), inner.columns(),
                                                         inner.values(&Product::d), list_of(tasks, &Product::center));
        inner.hand_out(read<float>(answer, inner.size(), "products"), &Product::Hd);
    }

    double divergence(std::span<const int> nodes, double c) override {
        if (nodes.empty()) return 0;
        const nb::gil_scoped_acquire acquire;
        return nb::cast<double>(rows_.attr("divergence")(list(nodes), c));
    }
    double largest_predictor(std::span<const int> nodes) override {
        if (nodes.empty()) return 0;
        const nb::gil_scoped_acquire acquire;
        return nb::cast<double>(rows_.attr("largest_predictor")(list(nodes)));
    }
    std::vector<double> gram(int node, const NeighborColumns& neighbors) override {
        const nb::gil_scoped_acquire acquire;
        const nb::object answer =
            rows_.attr("gram")(node, list({neighbors.column, static_cast<size_t>(neighbors.count)}));
        const size_t size = static_cast<size_t>(neighbors.count + 1) * (neighbors.count + 1);
        const Line<double> values = read<double>(answer.attr("reshape")(-1), size, "gram");
        return {values.data(), values.data() + size};
    }
    void remember(std::span<const int> nodes) override {
        const nb::gil_scoped_acquire acquire;
        rows_.attr("remember")(list(nodes));
    }
    std::vector<ResidualDrift> drift(std::span<const int> nodes) override {
        const nb::gil_scoped_acquire acquire;
        const nb::object answer = rows_.attr("drift")(list(nodes)).attr("reshape")(-1);
        const Line<double> values = read<double>(answer, 2 * nodes.size(), "drift");
        std::vector<ResidualDrift> moved(nodes.size());
        for (size_t k = 0; k < moved.size(); ++k) moved[k] = {values(2 * k), values(2 * k + 1)};
        return moved;
    }
    double all_pairs(int first, int last, float* band) override {
        const nb::gil_scoped_acquire acquire;
        const int p = static_cast<int>(margins_.mean.size());
        const size_t size = first_of_row(last, p) - first_of_row(first, p);
        const nb::object answer = rows_.attr("all_pairs")(first, last);
        const Line<float> values = read<float>(answer[0], size, "all_pairs");
        std::copy(values.data(), values.data() + size, band);
        return nb::cast<double>(answer[1]);
    }

    Scanned scan(const Scan& scan) override {
        const nb::gil_scoped_acquire acquire;
        const nb::object answer = rows_.attr("scan")(scan.threshold, scan.extra, scan.alpha, scan.scale, scan.gap);
        const size_t count = nb::len(nb::object(answer[0]));
        const Line<int32_t> flat = read<int32_t>(answer[0].attr("reshape")(-1), 2 * count, "scan");
        Scanned scanned{std::vector<Pair>(count), nb::cast<int64_t>(answer[1])};
        const int p = static_cast<int>(margins_.mean.size());
        for (size_t k = 0; k < count; ++k) {
            const Pair pair = scanned.pairs[k] = {flat(2 * k), flat(2 * k + 1)};
            if (pair.s < 0 || pair.s >= pair.t || pair.t >= p)
                throw std::invalid_argument("rows.scan must answer with pairs 0 <= s < t < n_features");
        }
        return scanned;
    }
    double largest() override {
        const nb::gil_scoped_acquire acquire;
        return nb::cast<double>(rows_.attr("largest")());
    }

 private:
    static nb::object list(std::span<const int> values) {
        return nb::cast(give(std::vector<int>(values.begin(), values.end())));
    }

    void ask_blocks(std::span<const Block> tasks, bool is_whole, Curvature curvature) {
        if (tasks.empty()) return;
        const char* call = is_whole ? "blocks" : "diagonals";
        const Batch inner(tasks, &Block::inner);
        const nb::object answer = rows_.attr(call)(list_of(tasks, &Block::node), inner.begin(), inner.columns(),
                                                   curvature == Curvature::majorized);
        size_t size = 0;
        for (const Block& task : tasks)
            size += is_whole ? static_cast<size_t>(task.inner.count) * task.inner.count : task.inner.count;
        const Line<float> values = read<float>(answer[0], size, call);
        const Line<double> curve = read<double>(answer[2], tasks.size(), call);
        for (size_t k = 0; k < tasks.size(); ++k) *tasks[k].curve = curve(k);
        inner.hand_out(read<float>(answer[1], inner.size(), call), &Block::b);
        if (!is_whole) return inner.hand_out(values, &Block::diagonal);
        const float* next = values.data();
        for (const Block& task : tasks)
            for (int i = 0, d = task.inner.count; i < d; ++i, next += d) {
                float* line = task.G + static_cast<size_t>(i) * task.stride;
                std::copy(next, next + d, line);
                std::fill(line + d, line + task.stride, 0.0f);
            }
    }

    const nb::object rows_;
    const bool scans_;
    Margins margins_;
    double rounding_ = 0;
};

}  // namespace

std::unique_ptr<Rows> python_rows(nb::object rows) {
    return std::make_unique<PythonRows>(std::move(rows));
}

}  // namespace isinglass
