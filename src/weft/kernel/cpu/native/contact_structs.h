// The structs of contact's kernels, for editors and for compilers that check a header by itself.
//
// Warp writes their definitions from the Python classes of the same names, which say what the
// fields are: those of trees and boxes (weft.contact.broad_phase.tree_order and .aabb), ``Pairs``
// and ``Separation`` (weft.contact.distance.distance) and
// ``VertexMotion`` (weft.contact.narrow_phase.distance_bounds).
#pragma once

#include "types.h"

struct TreeLayout {
    wp::array_t<int> start;
    wp::array_t<int> node;
    wp::array_t<int> block;
    wp::array_t<int> beyond;
    wp::array_t<int> block_at;
    wp::array_t<int> first;
    wp::array_t<int> root;
};

struct PointBoxes {
    wp::array_t<vec4f> low;
    wp::array_t<vec4f> high;
    wp::array_t<vec4f> middle;
};

struct Bounds {
    wp::array_t<float> boxes;
    wp::array_t<float> leaves;
    wp::array_t<vec3f> low;
    wp::array_t<vec3f> high;
    wp::array_t<float> places;
};

struct TreeBoxes {
    TreeLayout layout;
    wp::array_t<int> ids;
    wp::array_t<int> corners;
    wp::array_t<uint32> marks;
    wp::array_t<int> sewn;
    Bounds begin;
    Bounds end;
};

struct Pairs {
    wp::array_t<int> stencil;
    int points;
    wp::array_t<Scalar> bound;
    wp::array_t<uint8> adjacent;
};

struct Separation {
    wp::array_t<Scalar> thickness;
    wp::array_t<Scalar> core_part;
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
