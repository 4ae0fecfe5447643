"""A law by itself: energy, stress and the closed-form eigensystem of a sheared square."""

import numpy as np

import weft

law = weft.laws.BaraffWitkin(stretch=(1000.0, 800.0), shear=50.0)
F = np.array([[[1.0, 0.3], [0.0, 0.9], [0.0, 0.0]]])
print("energy", law.energy(F)[0], "J/m^2")
print("stress", law.stress(F)[0].round(2).tolist(), "N/m")
print("shear eigenvalues", law.eigensystem(F).shear.values[0].round(3).tolist())
least = np.linalg.eigvalsh(law.hessian(F, weft.Psd.EXACT)).min()
print(f"least eigenvalue of the exact Hessian: {least:.3f}")
