#include "rows/recipe.hpp"

#include <algorithm>
#include <cmath>

namespace isinglass {

void Recipe::change(const Move& task, std::vector<int>& where) {
    offset += task.offset;
    for (size_t k = 0; k < column.size(); ++k) where[column[k]] = static_cast<int>(k);
    for (int k = 0; k < task.moved.count; ++k) {
        int& found = where[task.moved.column[k]];
        if (found < 0) {
            found = static_cast<int>(column.size());
            column.push_back(task.moved.column[k]);
            coefficient.push_back(0.0);
        }
        coefficient[found] += task.coefficient[k];
    }
    for (int each : column) where[each] = -1;
}

void Recipe::forget_zeros() {
    size_t left = 0;
    for (size_t k = 0; k < column.size(); ++k) {
        if (std::abs(coefficient[k]) <= tuning::rows::NEGLIGIBLE_COEFFICIENT) continue;
        column[left] = column[k];
        coefficient[left++] = coefficient[k];
    }
    column.resize(left);
    coefficient.resize(left);
}

std::optional<std::vector<int>> Recipe::merged_by(const NeighborColumns& also, int most) const {
    if (columns().count > most) return {};
    std::vector<int> wanted = column;
    for (int k = 0; k < also.count && static_cast<int>(wanted.size()) <= most; ++k)
        if (std::find(column.begin(), column.end(), also.column[k]) == column.end()) wanted.push_back(also.column[k]);
    return static_cast<int>(wanted.size()) <= most ? wanted : column;
}

void Recipe::predict(const ColumnSource& source, int row, int rows, double* eta, Scratch& scratch) const {
    std::fill(eta, eta + rows, offset);
    if (column.empty()) return;
    ColumnList listed = source.list(columns(), scratch.columns);
    listed.n = rows;
    for (const uint8_t*& each : scratch.columns) each += row;
    kernels().add_columns(listed, coefficient.data(), 0.0, eta);
}

}  // namespace isinglass
