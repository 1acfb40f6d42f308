#include "rows/node_places.hpp"

#include <numeric>

namespace isinglass {

// A place for every step from the lowest category on where these are not many more than there are categories, else one
// for every category.
NodePlaces::NodePlaces(const CategoryColumn& column) : step_(column.step), place_(256) {
    const int steps = static_cast<int>(column.value.back() - column.value[0]) + 1;
    in_steps_ = steps <= tuning::rows::SPREAD_STEPS * column.q();
    number_.resize(((in_steps_ ? steps : column.q()) + 7) / 8 * 8);
    std::iota(number_.begin(), number_.end(), 0.0);
    for (int k = 0; k < column.q(); ++k) {
        const double number = column.value[k] - column.value[0];
        spot_.push_back(in_steps_ ? static_cast<int>(number) : k);
        number_[spot_[k]] = number;
        place_[static_cast<int>(column.value[k])] = static_cast<uint8_t>(spot_[k]);
    }
}

Places NodePlaces::at(const std::vector<double>& fields, std::vector<double>& field) const {
    field.assign(number_.size(), NOWHERE);
    for (size_t k = 0; k < spot_.size(); ++k) field[spot_[k]] = fields[k];
    return {ld(), field.data(), number_.data(), step_, place_.data(), in_steps_};
}

void NodePlaces::pass(const NodeView& view, const std::vector<double>& fields, float* wv, double* margin,
                      CategorySums& sums, Buffer<double>& scratch) const {
    std::vector<double> field;
    const Space<double> given = space(scratch, number_.size() * number_.size());
    const auto [loss, curve] =
        kernels().places_pass(at(fields, field), view.rows, view.eta, {view.wr, wv, margin, given});
    sums.loss = loss, sums.curve = curve;
    for (int j = 0; j < sums.q; ++j)
        for (int k = 0; k < sums.q; ++k)
            sums.given[sums.q * j + k] = j == k ? 0.0 : given.data[spot_[j] * ld() + spot_[k]];
}

std::vector<double> NodePlaces::complete(const NodeView& view, const std::vector<double>& fields, const Axes* axes,
                                         CategorySums& sums, Buffer<double>& scratch) const {
    const size_t d = axes ? axes->count() : 0, m = sums.q - 1, wide = number_.size();
    std::vector<double> field, mixed(axes ? wide * (d + 1) : 0), found(m * d);
    const Space<double> products = space(scratch, wide * wide);
    kernels().places_products(at(fields, field), view.rows, view.eta,
                              {axes ? axes->cells(view.rows.n) : ColumnList{}, products, {mixed.data(), mixed.size()}});
    for (int k = 0; k < sums.q; ++k)
        for (int l = 0; l < k; ++l) sums.products[sums.q * k + l] = products.data[spot_[k] * ld() + spot_[l]];
    for (size_t k = 0; k < m; ++k)
        for (size_t j = 0; j < d; ++j)
            found[k * d + j] = axes->centered(j, mixed[j * wide + spot_[k + 1]], mixed[d * wide + spot_[k + 1]]);
    return found;
}

}  // namespace isinglass
