"""The path algorithms: joint, node-wise and exact."""
