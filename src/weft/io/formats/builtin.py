"""The formats of the engine, by their suffix in upper case."""

from weft.io.format import Format, read_alone
from weft.io.formats.arrays import write_arrays, write_hdf5
from weft.io.formats.point_cache import read_pc2, write_pc2
from weft.io.formats.vtkhdf import write_vtkhdf
from weft.io.obj import obj_contents, write_obj
from weft.io.ply import ply_contents, write_ply
from weft.io.stl import stl_contents

OBJ = Format(read=read_alone(obj_contents), write=write_obj)
PLY = Format(read=read_alone(ply_contents), write=write_ply, carries_fields=True)
STL = Format(read=read_alone(stl_contents))
VTKHDF = Format(animate=write_vtkhdf, carries_fields=True)
PC2 = Format(cache=read_pc2, animate=write_pc2, even=True)
NPZ = Format(animate=write_arrays, carries_fields=True)
H5 = Format(animate=write_hdf5, carries_fields=True)
