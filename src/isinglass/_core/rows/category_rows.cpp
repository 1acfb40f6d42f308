#include "rows/category_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace isinglass {

CategoryRows::CategoryRows(std::shared_ptr<const Table> table, Holds holds, Pool& pool)
    : kernels_(kernels()),
      table_(std::move(table)),
      holds_(holds),
      stride_(table_->stride),
      pool_(pool),
      fields_(table_->n_features),
      ones_(stride_) {
    std::fill(ones_.data(), ones_.data() + stride_, uint8_t{1});
}

std::vector<double> CategoryRows::shares(const Table& table, int column) {
    std::vector<double> share(256);
    for (int n = 0; n < table.n_distinct; ++n) share[table.column(column)[n]] += table.w[n];
    return share;
}

void CategoryRows::start_fields(int node, const std::vector<double>& share) {
    if (holds_ == Holds::one_node) placed_ = node;
    fields_[node].clear();
    for (double part : share) fields_[node].push_back(std::log(part / share[0]));
}

void CategoryRows::add_margins(double size, double square) {
    margins_.mean.push_back(size);
    margins_.rest.push_back(size);
    margins_.sd.push_back(std::sqrt(square));
}

// By the log odds of the observed category: as for two categories, of which the one was observed.
double CategoryRows::divergence(std::span<const int> nodes, double c) {
    const double log_c = std::log(c), log_rest = std::log1p(-c);
    std::vector<double> parts(nodes.size());
    pool_.each(nodes.size(), [&](int k, int worker) {
        parts[k] = kernels_.divergence(own_odds(nodes[k], worker), ones_.data(), table_->w.data(), stride_, c,
                                       log_c, log_rest);
    });
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

// For free edges, which are refused with categories: nothing is known.
std::vector<double> CategoryRows::gram(int, const Beside& beside, int) {
    return std::vector<double>(static_cast<size_t>(beside.count + 1) * (beside.count + 1));
}

std::vector<double> CategoryRows::category_fields() const {
    if (holds_ == Holds::one_node) return fields_[placed_];
    std::vector<double> all;
    for (const std::vector<double>& fields : fields_) all.insert(all.end(), fields.begin(), fields.end());
    return all;
}

}  // namespace isinglass
