"""Derivatives of contact for ``weft.adjoint``.

``contact_derivative`` has those of one step, by the reverse mode of the kernels of the step
(``reverse_kernels``). ``by_constants`` has the changes along constants, by difference quotients.
``differentiable_contact`` gives both to a term.
"""
