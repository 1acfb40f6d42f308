// The constants of the core that were chosen and not derived: what each counts, and what the choice rests on.
// "Measured" refers to the notebook (docs/notebook.md) and the scripts of benchmarks/; what is not measured there only
// has to be of the right order, because results do not depend on it. Constants of mathematics stay where they are used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isinglass::tuning {

// Of several files.
constexpr size_t ROWS_PER_POLL = 4096;  // rows between two looks for an interrupt: well below a millisecond
constexpr double STATIONARY = 1e-13;    // |gradient| of a field or free edge at its optimum, relative to its terms
// Ridge of every pair where columns have categories and a pair has no penalty, scores scaled to a range of 1:
// FREE_RIDGE / 2 ||theta||^2. It makes every dual point feasible, and moves a coefficient of curvature h by
// FREE_RIDGE / h of itself.
constexpr double FREE_RIDGE = 1e-9;
constexpr double BADLY_PREDICTED = 8;    // log odds against the observed answer from which curvature is bounded
constexpr int GRAM_ROWS = 512;           // rows of a Gram block at a time: its panels stay in the second-level cache
constexpr int MAX_THREADS = 256;         // of one pool
constexpr int MAX_FEATURES = 1'000'000;  // columns of a table
constexpr uint64_t POLL_TICKS =
    100'000'000;  // of the processor's clock between two questions for signals: 20 to 100 ms
constexpr int YIELDS_BEFORE_SLEEP =
    20000;  // of an idle thread: some milliseconds, longer than the serial part of a step

namespace newton {
constexpr double INNER_TOLERANCE = 0.02;  // share of the KKT residual to which a model with blocks is solved (measured)
// The same for operators: at most LOOSE_TOLERANCE, proportional to the residual below that, and no better than
// NEEDED_SHARE of what the certificate asks for (measured on latent-factor tables).
constexpr double LOOSE_TOLERANCE = 0.05, QUADRATIC_TOLERANCE = 0.3, NEEDED_SHARE = 0.9;
constexpr double SMALLEST_NULL = 1e-12;    // objective without edges that the tolerance of a gap is relative to
constexpr double MAX_EXTRAPOLATION = 1.5;  // steps of the path in log alpha
constexpr double CONTRACTION = 0.05;    // share of the residual left by a step up to which blocks are kept (measured)
constexpr double NEARLY_ACTIVE = 0.98;  // share of the penalty from which a gradient makes an edge an inner one
constexpr size_t INNER_PER_NODE = 4;    // edges per node that may become inner at once, or ...
constexpr size_t MIN_INNER = 16;        // ... this many edges in all
constexpr int EARLY_STEPS = 2;          // steps after which the whole working set is looked at in any case
constexpr double UNCHANGED_CURVATURE =
    0.08;                       // share by which curvatures may have changed under a block that is kept (measured)
constexpr int STAGNATION = 40;  // steps without progress, or slow ones in a row, until a run ends or tries PreciseFace
constexpr int OPERATOR_STAGNATION = 2;        // such steps until operators give way to blocks (near copies; measured)
constexpr double PROGRESS = 0.9;              // of the best residual so far: below is progress
constexpr double PREDICTOR_DRIFT = 1e-3;      // share of the tolerance that rounding of predictors may take
constexpr double SLOW_STEP = 0.2;             // share of the residual left by a step that is slow
constexpr double SUFFICIENT_DECREASE = 1e-4;  // share of the predicted decrease (Armijo)
constexpr double OBJECTIVE_ROUNDING = 1e-14;  // relative error of F that the line search forgives
constexpr int MAX_HALVINGS = 12;              // of a step until the curvature is majorized
constexpr int SLOW_STEPS = 6;           // without progress until second derivatives in double precision are tried ...
constexpr size_t MAX_PRECISE = 400;     // ... on a face of at most so many coefficients
constexpr double MAX_PRECISE_MOVE = 8;  // of a predictor of 0 and 1, in such a step
// Such a step of a coefficient, in units of the largest one: beyond, the matrix is singular.
constexpr double LONGEST_PRECISE = 100;
constexpr double LONGEST_FIELD_STEP = 4;    // of a field, before a certificate
constexpr int MAX_POLISH = 50;              // Newton steps on fields and free edges before a certificate
constexpr double PROJECTION_ROUNDINGS = 8;  // of a block's norm, up to which its predictors are not computed afresh
}  // namespace newton

namespace quadratic {
constexpr int MAX_ROUNDS = 20;            // of sweeps and face steps; the next Newton step copes with what is left
constexpr int MAX_FACES = 60;             // face steps without sweeps
constexpr double OPERATOR_PATIENCE = 4;   // products for one model, in widths of a block: making blocks costs 1.5
constexpr double BLOCK_FACE = 0.3;        // share of the tolerance of a model to which a face of blocks is solved, ...
constexpr double OPERATOR_FACE = 0.5;     // ... and one with operators (measured)
constexpr double SHORTEST_FACE = 0.05;    // share of a face step
constexpr double SHORTEST_STEP = 1e-4;    // share of a gradient step
constexpr int ACTIVE_SWEEPS = 2;          // before a face step is tried
constexpr double SLOW_SWEEP = 0.2;        // share of the violation left by a sweep that is slow
constexpr int MAX_PRODUCTS = 200;         // of one face step
constexpr int MAX_MODEL_PRODUCTS = 2000;  // of one model with blocks; the next Newton step copes with what is left
constexpr int MAX_CUTS = 30;              // face steps in a row that end at a sign change
constexpr double FACE_CHECK = 0.1;        // share of the residual at which the face is looked at again
constexpr double RENEWED = 0.03;         // share of the residual at which that of rough products is computed accurately
constexpr double ROUGH_ERROR = 3;        // times the residual by rough products, beyond which they are given up ...
constexpr double ROUGH_STEP = 0.5;       // ... and share of the violation left by a face step, for the same
constexpr int FACTOR_PATIENCE = 6;       // products before the matrix of a face may be factorized (measured)
constexpr double FACTOR_COST = 70;       // products that a factorization may cost (measured)
constexpr size_t MAX_FACTOR = 512;       // edges of a face that is factorized: 1 MB (counted in memory::START)
constexpr float SMALLEST_PIVOT = 1e-6f;  // of a diagonal entry: below, single precision has nothing left
constexpr size_t EDGES_PER_TASK = 4096;  // that one thread takes at a time
}  // namespace quadratic

namespace groups {
constexpr int MAX_ROUNDS = 40;              // of proximal and face steps
constexpr int MAX_PRODUCTS = 100;           // of one face step
constexpr double LONGEST_STEP = 200;        // of a coefficient, about: more than any log odds ratio that tables have
constexpr double LAST_FACE = 0.3;           // share of the tolerance of a model to which a face is solved
constexpr double FORCING = 0.05;            // share of its residual to which a face is solved that may yet change
constexpr double SHORTEST_STEP = 1e-4;      // share of a step
constexpr int MAX_SECULAR = 60;             // steps for the norm of one group
constexpr double SECULAR_ERROR = 1e-12;     // relative, of that norm
constexpr size_t NUMBERS_PER_TASK = 16384;  // coefficients that one thread takes at a time
}  // namespace groups

namespace working_set {
// Relative, of a block's diagonal: a few roundings above zero, so that single precision does not make it indefinite.
// (With a tenth of it, badly conditioned tables stall; measured.)
constexpr float RIDGE = 1e-6f;
// Inner degree, on average over the slots, from which on nodes are operators: a block costs as much to make as products
// of one and a half times its width, and a step needs some dozens (measured on latent-factor tables).
constexpr int WIDEST_BLOCK = 50;
constexpr int WIDEST_BESIDE_ROUGH = 25;  // the same where rough products take less than half the time (measured)
constexpr size_t MAX_BLOCK_BYTES = size_t{1} << 28;  // of blocks that operators give way to
}  // namespace working_set

namespace certificate {
constexpr double NEGLIGIBLE_PENALTY = 1000;  // rounding errors below which a penalty is as good as none
}  // namespace certificate

namespace screen {
// Share of the pairs that cannot be excluded from which on a new reference is taken: about the number of exact values
// that costs as much (measured). All pairs at once are a product of two matrices, those of one node are not.
constexpr double REFRESH_ALL = 1.0 / 16, REFRESH_ONE = 0.3;
// Share of the pairs up to which those that are not forbidden are looked at one by one, each time: half of them are in
// the working set, usually, and known.
constexpr double FEW_ALLOWED = 1.0 / 8;
// A bound of |g| is a sum of six terms in single precision, and may be so much too small.
constexpr double LIMIT_SHARE = 1 - 2e-6;
constexpr size_t PAIRS_PER_BAND = size_t{1} << 26;   // where no reference is kept: 256 MB
constexpr size_t MAX_REFERENCE_PAIRS = 800'000'000;  // of a reference that is kept: 3.2 GB, 40 000 columns
constexpr int ALWAYS_FRESH_COLUMNS = 64;             // up to which all pairs are computed each time (measured)
}  // namespace screen

namespace path {
constexpr size_t SINGLE_THREAD_CELLS = 26000;  // below, a second thread costs more than it saves (measured)
constexpr double STEEPEST = 0.6;          // smallest ratio of consecutive alphas; a larger step has stops in between
constexpr double COLD_RATIO = 0.01;       // to alpha_max, that Newton bridges in one go if all pairs are in ...
constexpr double STEEP_RATIO = 0.1;       // ... and the steps that lead to smaller alphas
constexpr double STOP_TOLERANCE = 0.2;    // share of their alpha to which such stops are solved
constexpr double LARGEST_RESIDUAL = 0.1;  // share of alpha: beyond, a loose tolerance would not tell edges from none
// The strong rule keeps everything after a step by one half; it is never taken to keep pairs below this share of alpha.
// What that misses, the check finds.
constexpr double SMALLEST_KEPT = 0.9;
// Share of the pairs from which on gradients no longer move as slowly as the rule assumes, and how much smaller its
// threshold is then: a pair too many costs a product, one too few another solve. (Of one node
// too many cost more: node-wise Senate paths take 8 % longer with it, measured.)
constexpr double DENSE_SHARE = 0.05, DENSE_THRESHOLD = 0.7;
}  // namespace path

namespace nodewise {
constexpr double SINGLE_THREAD_WORK = 1e6;  // rows x columns x nodes x alphas below which threads do not pay
constexpr int MIN_PATH = 5;                 // alphas: glmnet's mnlam
constexpr double MAX_DEVIANCE_RATIO = 0.999, MIN_DEVIANCE_GAIN = 1e-5;  // glmnet's devmax and fdev
}  // namespace nodewise

// Bytes. Measured: no less than is taken, and at most twice as much (tests/solve/test_memory.py).
namespace memory {
constexpr double START = 4e6;              // threads and their scratch, the factor of a face
constexpr double PER_CELL = 20;            // predictor, residual, pattern and byte of the table, rows padded
constexpr double PER_CELL_REMEMBERED = 4;  // residuals of the reference, with more columns than are always fresh
constexpr double PER_PAIR = 4;             // gradient of the reference
// Of a pair in the working set: its lists, and either its share of blocks of second derivatives or two packed columns
// (see WorkingSet::choose_operators for which).
constexpr double PER_WORKING = 850, PER_WORKING_BLOCK = 500, PER_WORKING_ROW = 0.625;
constexpr double OPERATOR_DEGREE = 12;   // mean degree from which packed columns are counted
constexpr double PER_COEFFICIENT = 260;  // of a group: itself, its gradient, two slots, vectors of conjugate gradients
}  // namespace memory

namespace fields {
constexpr int MAX_STEPS = 40;       // of Newton's method on the fields of a node
constexpr int MAX_SLOW_STEPS = 4;   // in a row that do not halve the slopes: categories are then balanced first ...
constexpr int MAX_BALANCED = 4;     // ... and Newton's method begins again, so often (measured)
constexpr double LONGEST_STEP = 4;  // of a field
constexpr double SHORTEST_SHARE = 1e-6;  // of a step
constexpr double ROUNDED = 1e-9;         // relative slopes below which a step that gains no digit ends it
constexpr double SLOW_CHORD = 0.05;      // share of the slopes left by a step after which the Hessian is made again
constexpr double GOOD_SHARE = 1e-12;     // of the loss that slopes which are left may add to the duality gap
constexpr double FAR_FROM_BALANCE = 1;   // logarithm of what comes in over what goes out
constexpr int MAX_IMPROVEMENTS = 12;     // steps of this kind
constexpr double WORTH_ANOTHER = 0.75;   // share of it left by such a step; half is left if one flow has underflowed
}  // namespace fields

namespace rows {
constexpr double FEW_ZEROS = 0.02;       // share below which the weight of zeros is not taken from that of ones: digits
constexpr int MAX_PATTERN_COLUMNS = 12;  // beside a node: sums of all patterns stay in the second-level cache
constexpr int ROWS_PER_PATTERN = 8;      // from which merging them is worth its cost (measured)
constexpr int ROWS_PER_MADE_PATTERN = 64;  // the same where predictors are not kept: patterns take half a byte per cell
constexpr size_t MIN_PATTERN_CELLS = 30000;       // of a table: a smaller one is done sooner than merged (measured)
constexpr int PATTERN_ROWS_AT_ONCE = 4096;        // rows whose patterns are put together at a time
constexpr int HOPELESS_RECIPE = 4;                // times as many columns as patterns can have: the recipe is given up
constexpr double NEGLIGIBLE_COEFFICIENT = 1e-15;  // what is left of a coefficient after steps that add up to nothing
constexpr int BIT_COLUMNS = 32;  // asked for at once, from which the bits of all are worth having (measured)
constexpr int TILE_NODES = 64;   // of one block of the gradient of all pairs
constexpr int TILE_ROWS = 512;   // accumulated at a time: panels stay in the second-level cache
constexpr size_t SLAB_RESIDUALS = size_t{1} << 24;  // of all nodes that exist at a time: 64 MB
constexpr int SPARSE_NODES_AT_ONCE = 64;            // whose moments with all columns exist at a time
constexpr size_t PREFETCHED_WORDS = 512;  // of packed columns, which do not fit into the second-level cache (measured)
constexpr size_t LARGE_PAGE = size_t{1} << 21;  // bytes; smaller arrays come from malloc, which has some at hand
constexpr int SHORT_ROWS = 512;                 // rows with one unit of short integers: more would make it coarser
constexpr int MAX_SHORT_COLUMNS = 4096;         // of a node, for the same reason
constexpr int FEW_CATEGORIES = 8;               // whose second derivatives come with every pass
constexpr double SPREAD_STEPS = 2;              // steps per category up to which powers are taken of all steps
constexpr double SMALLEST_PROFILED = 1e-6;      // of a diagonal entry, once the fields are taken out
constexpr size_t TABLE_CACHE_BYTES = 24 << 10;  // of tables of categories that are read together: the first-level cache
constexpr int LINES_AT_ONCE = 16;               // of the matrix of all pairs of columns with categories
}  // namespace rows

}  // namespace isinglass::tuning
