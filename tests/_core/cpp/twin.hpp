// A table of 0 and 1 with a predictor for every column, in plain loops over double: what rows of all kinds must agree
// with.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "rows/rows.hpp"

namespace isinglass {

struct Twin {
    int n, p;
    std::vector<uint8_t> X;  // row by row
    std::vector<double> weights, w;
    std::vector<std::vector<double>> eta;  // of every node

    Twin(int n_rows, int n_columns, double share_of_ones, bool weighted, uint32_t seed)
        : n(n_rows), p(n_columns), X(static_cast<size_t>(n) * p), weights(n, 1.0), eta(p, std::vector<double>(n, 0.0)) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> uniform(0, 1);
        for (uint8_t& cell : X) cell = uniform(random) < share_of_ones;
        for (int s = 0; s < p; ++s) X[s] = 1, X[p + s] = 0;  // no column is constant
        if (weighted)
            for (double& each : weights) each = 0.1 + uniform(random);
        double sum = 0;
        for (double each : weights) sum += each;
        for (double each : weights) w.push_back(each / sum);
    }
    TableView view() const { return {X.data(), weights.data(), static_cast<size_t>(n), p}; }
    double x(int row, int column) const { return X[static_cast<size_t>(row) * p + column]; }
    double sigma(int node, int row) const { return 1 / (1 + std::exp(-eta[node][row])); }
    double residual(int node, int row) const { return sigma(node, row) - x(row, node); }
    double curvature(int node, int row) const { return w[row] * sigma(node, row) * (1 - sigma(node, row)); }

    void move(int node, double offset, const std::vector<int>& columns, const std::vector<double>& coefficients,
              bool afresh) {
        for (int row = 0; row < n; ++row) {
            double change = offset;
            for (size_t k = 0; k < columns.size(); ++k) change += coefficients[k] * x(row, columns[k]);
            eta[node][row] = (afresh ? 0.0 : eta[node][row]) + change;
        }
    }
    double loss(int node) const {
        double sum = 0;
        for (int row = 0; row < n; ++row)
            sum += w[row] * (std::log1p(std::exp(-std::abs(eta[node][row]))) + std::max(eta[node][row], 0.0) -
                             x(row, node) * eta[node][row]);
        return sum;
    }
    double gradient(int node, int column) const {
        double sum = 0;
        for (int row = 0; row < n; ++row) sum += w[row] * residual(node, row) * x(row, column);
        return sum;
    }
    // sum v, sum v x_s and the centered sum v (x_s - mean) (x_t - mean).
    double curve(int node) const {
        double sum = 0;
        for (int row = 0; row < n; ++row) sum += curvature(node, row);
        return sum;
    }
    double mean(int node, int column) const {
        double sum = 0;
        for (int row = 0; row < n; ++row) sum += curvature(node, row) * x(row, column);
        return sum / curve(node);
    }
    double second(int node, int s, int t) const {
        const double mean_s = mean(node, s), mean_t = mean(node, t);
        double sum = 0;
        for (int row = 0; row < n; ++row) sum += curvature(node, row) * (x(row, s) - mean_s) * (x(row, t) - mean_t);
        return sum;
    }
    double largest(int node) const {
        double size = 0;
        for (double each : eta[node]) size = std::max(size, std::abs(each));
        return size;
    }
    // Since the predictors were these.
    ResidualDrift drift(int node, const std::vector<std::vector<double>>& before) const {
        ResidualDrift moved;
        for (int row = 0; row < n; ++row) {
            const double change = sigma(node, row) - 1 / (1 + std::exp(-before[node][row]));
            moved.square += w[row] * change * change;
            moved.sum += w[row] * change;
        }
        return moved;
    }
    double divergence(int node, double c) const {
        double sum = 0;
        for (int row = 0; row < n; ++row) {
            const double q = x(row, node) + c * residual(node, row), at = sigma(node, row);
            sum += w[row] * (q * std::log(q / at) + (1 - q) * std::log((1 - q) / (1 - at)));
        }
        return sum;
    }
};

}  // namespace isinglass
