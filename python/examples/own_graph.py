"""What correlated noise on a graph of your own costs everybody, and which noise would keep a promise."""

import networkx
import numpy as np

import undertone

# Eight hospitals. Each adds own noise, and noise that it shares with its partners and that cancels in the sum.
graph = networkx.Graph()
graph.add_edges_from((f"hospital {k}", f"hospital {(k + step) % 8}") for k in range(8) for step in (1, 2, 3))

loss = undertone.account(graph, sigma_own=2.0, sigma_pairwise=20.0, coalition=["hospital 3"], delta=1e-6)
for name in loss:
    print(f"{name}: epsilon at most {loss[name].epsilon:.3f} ({loss[name].certificate})")

any_two = undertone.account(graph, 2.0, 20.0, colluders=2, delta=1e-6)
worst = any_two.worst_coalition
assert worst is not None
print(f"any two: between {worst.epsilon_at_least:.3f} and {worst.epsilon_at_most:.3f}, by {worst.attained_by} about {worst.victim}")

plan = undertone.plan(graph, epsilon=1.0, delta=1e-6, colluders=2, iterations=10)
print(f"for epsilon = 1 over 10 rounds: own noise {plan.sigma_own:.3f}, shared {plan.sigma_pairwise:.3f}")
assert plan.account(colluders=2).epsilon.max() <= 1.0 + 1e-9
factors: np.ndarray = plan.account(coalition=["hospital 0", "hospital 1"]).mu
assert factors.shape == (6,)
