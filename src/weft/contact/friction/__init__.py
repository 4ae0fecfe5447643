"""Coulomb friction as a potential of a step (Li et al. 2020, section 5), and its kernels
(``kernels``).
"""
