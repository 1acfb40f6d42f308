#include "bind/python_rows.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "bind/arrays.hpp"

namespace isinglass {
namespace {

struct Columns {
    std::vector<int64_t> begin{0};
    std::vector<int> columns;

    void add(const Beside& beside) {
        columns.insert(columns.end(), beside.column, beside.column + beside.count);
        begin.push_back(static_cast<int64_t>(columns.size()));
    }
};

template <class Task>
auto nodes_of(std::span<const Task> tasks) {
    std::vector<int> nodes;
    for (const Task& task : tasks) nodes.push_back(task.node);
    return give(std::move(nodes));
}

template <class T>
Line<T> read(nb::handle answer, size_t size, const char* call) {
    Line<T> line;
    if (!nb::try_cast(answer, line) || line.shape(0) != size)
        throw std::invalid_argument(std::string("rows.") + call +
                                    " must answer with flat arrays; expected one of " + std::to_string(size) +
                                    " numbers");
    return line;
}

class PythonRows final : public Rows {
 public:
    explicit PythonRows(nb::object rows) : rows_(std::move(rows)), scans_(nb::hasattr(rows_, "scan")) {
        const nb::object shares = rows_.attr("margins")();
        const size_t p = nb::len(nb::object(shares[0]));
        const Line<double> mean = read<double>(shares[0], p, "margins"),
                           rest = read<double>(shares[1], p, "margins");
        margins_ = {{mean.data(), mean.data() + p}, {rest.data(), rest.data() + p}, std::vector<double>(p)};
        for (size_t s = 0; s < p; ++s) margins_.sd[s] = std::sqrt(margins_.mean[s] * margins_.rest[s]);
        rounding_ = nb::cast<double>(rows_.attr("rounding")());
    }

    const Margins& margins() const override { return margins_; }
    double rounding() const override { return rounding_; }
    bool scans() const override { return scans_; }

    std::vector<Overlap> overlaps(std::span<const Pair> pairs) override {
        const nb::gil_scoped_acquire acquire;
        const nb::object answer =
            rows_.attr("overlaps")(give(std::vector<Pair>(pairs.begin(), pairs.end()))).attr("reshape")(-1);
        const Line<double> values = read<double>(answer, 4 * pairs.size(), "overlaps");
        std::vector<Overlap> found(pairs.size());
        for (size_t k = 0; k < found.size(); ++k)
            found[k] = {values(4 * k), values(4 * k + 1), values(4 * k + 2), values(4 * k + 3)};
        return found;
    }

    void move(std::span<const Move> tasks, bool afresh) override {
        if (tasks.empty()) return;
        const nb::gil_scoped_acquire acquire;
        std::vector<double> offsets, coefficients;
        Columns moved, asked;
        for (const Move& task : tasks) {
            offsets.push_back(task.offset);
            moved.add(task.moved);
            coefficients.insert(coefficients.end(), task.coefficient, task.coefficient + task.moved.count);
            asked.add(task.asked);
        }
        const size_t n_asked = asked.columns.size();
        const nb::object answer =
            rows_.attr("move")(nodes_of(tasks), give(std::move(offsets)), give(std::move(moved.begin)),
                               give(std::move(moved.columns)), give(std::move(coefficients)),
                               give(std::move(asked.begin)), give(std::move(asked.columns)), afresh);
        const Line<double> sums = read<double>(answer[0].attr("reshape")(-1), 4 * tasks.size(), "move"),
                           gradients = read<double>(answer[1], n_asked, "move");
        const double* next = gradients.data();
        for (size_t k = 0; k < tasks.size(); ++k) {
            const double zeros = sums(4 * k + 2), ones = sums(4 * k + 3);
            *tasks[k].sums = {sums(4 * k), zeros - ones, sums(4 * k + 1), zeros, ones};
            std::copy(next, next + tasks[k].asked.count, tasks[k].gradient);
            next += tasks[k].asked.count;
        }
    }

    void gradients(std::span<const Gradient> tasks) override {
        if (tasks.empty()) return;
        const nb::gil_scoped_acquire acquire;
        Columns asked;
        for (const Gradient& task : tasks) asked.add(task.asked);
        const size_t n_asked = asked.columns.size();
        const nb::object answer = rows_.attr("gradients")(nodes_of(tasks), give(std::move(asked.begin)),
                                                          give(std::move(asked.columns)));
        const Line<double> values = read<double>(answer, n_asked, "gradients");
        const double* next = values.data();
        for (const Gradient& task : tasks) {
            std::copy(next, next + task.asked.count, task.gradient);
            next += task.asked.count;
        }
    }

    void blocks(std::span<const Block> tasks, Curvature curvature) override {
        const nb::gil_scoped_acquire acquire;
        std::vector<Block> whole, diagonal;
        for (const Block& task : tasks) (task.G || task.inner.count == 0 ? whole : diagonal).push_back(task);
        ask_blocks("blocks", whole, curvature);
        ask_blocks("diagonals", diagonal, curvature);
    }

    void products(std::span<const Product> tasks) override {
        if (tasks.empty()) return;
        const nb::gil_scoped_acquire acquire;
        Columns inner;
        std::vector<float> d;
        std::vector<double> centers;
        for (const Product& task : tasks) {
            inner.add(task.inner);
            d.insert(d.end(), task.d, task.d + task.inner.count);
            centers.push_back(task.center);
        }
        const size_t size = d.size();
        const nb::object answer = rows_.attr("products")(nodes_of(tasks), give(std::move(inner.begin)),
                                                         give(std::move(inner.columns)), give(std::move(d)),
                                                         give(std::move(centers)));
        const Line<float> values = read<float>(answer, size, "products");
        const float* next = values.data();
        for (const Product& task : tasks) {
            std::copy(next, next + task.inner.count, task.Hd);
            next += task.inner.count;
        }
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
    std::vector<double> gram(int node, const Beside& beside, int most) override {
        const nb::gil_scoped_acquire acquire;
        const nb::object answer =
            rows_.attr("gram")(node, list({beside.column, static_cast<size_t>(beside.count)}), most);
        const size_t size = static_cast<size_t>(beside.count + 1) * (beside.count + 1);
        const Line<double> values = read<double>(answer.attr("reshape")(-1), size, "gram");
        return {values.data(), values.data() + size};
    }
    void remember(std::span<const int> nodes) override {
        const nb::gil_scoped_acquire acquire;
        rows_.attr("remember")(list(nodes));
    }
    std::vector<Moved> drift(std::span<const int> nodes) override {
        const nb::gil_scoped_acquire acquire;
        const nb::object answer = rows_.attr("drift")(list(nodes)).attr("reshape")(-1);
        const Line<double> values = read<double>(answer, 2 * nodes.size(), "drift");
        std::vector<Moved> moved(nodes.size());
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
        const nb::object answer =
            rows_.attr("scan")(scan.threshold, scan.extra, scan.alpha, scan.scale, scan.gap);
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

    void ask_blocks(const char* call, const std::vector<Block>& tasks, Curvature curvature) {
        if (tasks.empty()) return;
        const bool is_whole = std::string(call) == "blocks";
        Columns inner;
        size_t size = 0;
        for (const Block& task : tasks) {
            inner.add(task.inner);
            size += is_whole ? static_cast<size_t>(task.inner.count) * task.inner.count : task.inner.count;
        }
        const size_t n_columns = inner.columns.size();
        const nb::object answer =
            rows_.attr(call)(nodes_of(std::span<const Block>(tasks)), give(std::move(inner.begin)),
                             give(std::move(inner.columns)), curvature == Curvature::majorized);
        const Line<float> values = read<float>(answer[0], size, call),
                          b = read<float>(answer[1], n_columns, call);
        const Line<double> curve = read<double>(answer[2], tasks.size(), call);
        const float *next = values.data(), *next_b = b.data();
        for (size_t k = 0; k < tasks.size(); ++k) {
            const Block& task = tasks[k];
            const int d = task.inner.count;
            *task.curve = curve(k);
            std::copy(next_b, next_b + d, task.b);
            next_b += d;
            if (!is_whole) std::copy(next, next + d, task.diagonal);
            for (int i = 0; is_whole && i < d; ++i) {
                float* line = task.G + static_cast<size_t>(i) * task.stride;
                std::copy(next + i * d, next + (i + 1) * d, line);
                std::fill(line + d, line + task.stride, 0.0f);
            }
            next += is_whole ? d * d : d;
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
