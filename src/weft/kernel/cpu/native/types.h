// The types of the other headers, for editors and for compilers that check a header by itself.
//
// weft.kernel.cpu.native_code puts the alias of Scalar before the body of a function itself, from
// weft.kernel.types, and Warp writes the signatures.
#pragma once

#include "builtin.h" // Warp's, in the folder warp/native

using Scalar = wp::float64;
using vec3 = wp::vec_t<3, Scalar>;
using vec3f = wp::vec_t<3, float>;
using vec4f = wp::vec_t<4, float>;
using mat33 = wp::mat_t<3, 3, Scalar>;
using mat33f = wp::mat_t<3, 3, float>;
using uint32 = unsigned int;
using uint16 = unsigned short;
using uint8 = unsigned char;
using int64 = wp::int64;
