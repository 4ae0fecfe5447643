"""Robot arms: links that joints move, read from URDF and MJCF files.

``arm`` has the tree of links with its forward kinematics, and forces about joints; ``read_arm``
reads files with the package MuJoCo (``pip install 'weft[arms]'``) and makes a body of every link.
"""
