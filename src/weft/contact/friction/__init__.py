"""Coulomb friction as a potential of a step (Li et al. 2020, section 5), and its kernels
(``kernels``). ``contact.contact_energy`` adds its value, gradient and Hessian to those of contact.
"""
