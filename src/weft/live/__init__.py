"""Live: cloth that is pulled and changed while it is simulated, in a browser.

Read in this order: ``messages`` (what a page may say), ``controls`` (the numbers on its desk),
``session`` (the simulation between its steps), ``save`` (scene files of what was played),
``order``, ``worker`` and ``process`` (the process that simulates, from inside and outside),
``server`` (the page and its pictures), ``play_view`` (the page from Python), ``mesh_scene`` (the
scene of a mesh).
"""
