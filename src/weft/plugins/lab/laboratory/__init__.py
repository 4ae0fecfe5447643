"""A virtual textile laboratory: standard tests of a fabric, whose results form a data sheet.

The tests are ``tensile``, ``shear``, ``cantilever`` and ``cusick`` (drape). ``specimen`` has what
they share: the model of a specimen and its equilibrium. ``elastica`` is the exact theory of the
cantilever, ``plate`` adjusts hinges of irregular meshes, ``shadow`` measures a drape from above.
``sheet`` runs the tests and makes tables; ``pictures`` draws the results;
``reference_values`` lists measured drape coefficients.
"""
