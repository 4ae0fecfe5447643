// The structs of contact's kernels, for editors and for compilers that check a header by itself.
//
// Warp writes their definitions from the Python classes of the same names, which say what the
// fields are: ``Pairs`` (weft.contact.broad_phase.candidates), ``Separation``
// (weft.contact.distance.distance) and ``VertexMotion`` (weft.contact.narrow_phase.distance_bounds).
#pragma once

#include "types.h"

struct Pairs {
    wp::array_t<int> stencil;
    int points;
    wp::array_t<Scalar> bound;
    wp::array_t<uint8> adjacent;
};

struct Separation {
    wp::array_t<Scalar> thickness;
    Scalar scale;
    Scalar gap;
    Scalar adjacent_gap;
    Scalar stiffness;
    Scalar adjacent_stiffness;
};

struct VertexMotion {
    wp::array_t<vec3> origin;
    wp::array_t<vec4f> place;
    wp::array_t<Scalar> away;
    wp::array_t<vec4f> shift;
    wp::array_t<vec4f> way;
};
