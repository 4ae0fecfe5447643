// Candidate pairs that are kept, 32 at a time (weft.contact.broad_phase.candidates).
#pragma once

#include "contact_structs.h"

// Return the bits of the pairs first + k, k < count <= 32, of stencil (m,4) without a vertex for
// which left (n,) is set. Native, because Warp's index checks keep the loop from vector loads.
uint32 mark_unmoved(wp::array_t<int> stencil, int first, int count, wp::array_t<int> left) {
    unsigned int out = 0;
    for (int k = 0; k < count; ++k) {
        const int* v = stencil.data + 4 * ((size_t)first + k);
        const int moved = left.data[v[0]] | left.data[v[1]] | left.data[v[2]] | left.data[v[3]];
        out |= (unsigned int)(moved == 0) << k;
    }
    return out;
}

// Copy the pairs first + k, for the bits k of a mask, with their bounds and marks, to rows `at` and
// on of `out`; pairs of edges lie `shift` rows further on. Native, because whole runs of pairs are
// copied by vector instructions.
void keep_some(Pairs pairs, int first, uint32 bits, int at, int shift, Pairs out) {
    while (bits) {
        const int k = wp::bit_count(~bits & (bits - 1));
        const unsigned int stays = ~(bits >> k); // mostly all: copied on end
        int run = stays ? wp::bit_count(~stays & (stays - 1)) : 32;
        const int i = first + k;
        if (i < pairs.points && run > pairs.points - i)
            run = pairs.points - i;
        const size_t to = (size_t)at + (i < pairs.points ? 0 : shift);
        for (int r = 0; r < 4 * run; ++r)
            out.stencil.data[4 * to + r] = pairs.stencil.data[4 * (size_t)i + r];
        for (int r = 0; r < run; ++r)
            out.bound.data[to + r] = pairs.bound.data[(size_t)i + r];
        if (pairs.adjacent.shape[0])
            for (int r = 0; r < run; ++r)
                out.adjacent.data[to + r] = pairs.adjacent.data[(size_t)i + r];
        at += run;
        bits = k + run < 32 ? bits & ~0u << (k + run) : 0;
    }
}
