// Pairs that edges of the mesh connect (weft.contact.narrow_phase.adjacent_pairs).
#pragma once

#include "types.h"

// Return 1 if vertex v has one of a, b and c as a neighbor, else 0; the neighbors of v begin at
// start[v]. Native, because the search has no branch for each neighbor.
uint32 are_neighbors(wp::array_t<int> start, wp::array_t<int> neighbors, int v, int a, int b, int c) {
    unsigned int out = 0;
    for (int k = start.data[v]; k < start.data[v + 1]; ++k) {
        const int w = neighbors.data[k];
        out |= (w == a) | (w == b) | (w == c);
    }
    return out;
}
