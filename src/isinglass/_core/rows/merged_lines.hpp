// Lines whose nodes may be merged: where there are many rows and few columns of 0 and 1 beside a node, its predictor
// and its residuals are those of patterns, and are given to all rows when they are asked for.
#pragma once

#include "rows/node_view.hpp"
#include "rows/patterns.hpp"
#include "rows/recipe.hpp"

namespace isinglass {

class MergedLines : public Lines {
 public:
    // can_merge: whether any node may be merged at all.
    MergedLines(const Table& table, std::vector<int> widths, Holds holds, Workers& workers, bool can_merge = true);

    bool is_merged(int node) { return merges() && merged(node).patterns.are_of(node); }
    // Where the predictor of a node has been moved: of its patterns, of all rows, or nowhere yet (its line is as it
    // was). Only residuals are left to be computed, after which `passed` is called.
    enum class Moved { patterns, rows, nowhere };
    Moved move(const Move& task, bool afresh, int worker);
    // Before a move that patterns cannot follow.
    void give_up(int node, bool afresh, int worker);
    void passed(int node) {
        if (is_merged(node)) merged(node).spread = Merged::Spread::nothing;
    }
    // Makes patterns by these columns too, if they fit in; true if there are new ones, whose residuals are to be
    // computed.
    bool extend(int node, const NeighborColumns& also, int worker);
    bool holds(int node, const NeighborColumns& columns) {
        return is_merged(node) && merged(node).patterns.hold(columns);
    }
    NodeView view_patterns(int node) {
        Merged& own = merged(node);
        return {own.patterns.rows(), own.eta.data(), own.wr.data(), sums(node), &own.patterns};
    }
    // All rows; of a node that is merged, its predictors need not be there.
    NodeView view_rows(int node);
    NodeView view_predictors(int node);
    void unmerge(int node, int worker);

 private:
    // What is known of a node that is or may be merged.
    struct Merged {
        Recipe recipe;
        bool is_known = false;  // whether the recipe is kept up
        Patterns patterns{true};
        Buffer<double> eta, wr;  // of the patterns
        enum class Spread : uint8_t { nothing, residuals, predictors_too };
        Spread spread = Spread::nothing;  // what all rows have been given
    };
    bool merges() const { return most_columns_ >= 0; }
    Merged& merged(int node) { return merged_[index(node)]; }
    bool track(const Move& task, bool afresh, int worker);
    bool merge(int node, const NeighborColumns& asked);
    void predict(int node, int worker);

    const Table& table_;
    Workers& workers_;
    const int most_columns_;  // beside a node whose rows are merged; -1: there are too few rows
    std::vector<Merged> merged_;
    std::vector<std::vector<int>> where_;  // scratch of every thread
};

}  // namespace isinglass
