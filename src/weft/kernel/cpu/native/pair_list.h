// Boxes that overlap a box, collected in rows and written as pairs (weft.contact.broad_phase.overlap_query).
#pragma once

#include "types.h"

// Add the boxes first + k, for the bits k of a mask, to row i of `slots` (n, room), as long as
// there is room, and count them all in count (n,). Native, because Warp checks negative indices
// and strides at each of a million pairs.
void note(int i, int first, uint32 bits, wp::array_t<int> count, wp::array_t<int> slots) {
    const int room = (int)slots.shape[1];
    int found = count.data[i];
    int* row = slots.data + room * (size_t)i;
    for (; bits; bits &= bits - 1, ++found)
        if (found < room)
            row[found] = first + wp::bit_count(~bits & (bits - 1));
    count.data[i] = found;
}

// Write the pair of box i and box j to row `place` of out: (m,2) both numbers where `apart` is 0,
// else (m,k+m) the vertices of both from a (n,k) and b (n,m), those of the box with fewer first.
inline void put_pair(int place, int i, int j, int apart, const wp::array_t<int>& a,
                     const wp::array_t<int>& b, const wp::array_t<int>& out) {
    if (apart == 0) {
        out.data[2 * (size_t)place] = i;
        out.data[2 * (size_t)place + 1] = j;
        return;
    }
    const int k = (int)a.shape[1], m = (int)b.shape[1];
    const int *one = a.data + k * (size_t)i, *other = b.data + m * (size_t)j;
    int* row = out.data + (k + m) * (size_t)place;
    if (k == 2 && m == 2) {
        row[0] = one[0];
        row[1] = one[1];
        row[2] = other[0];
        row[3] = other[1];
        return;
    }
    for (int c = 0; c < k; ++c)
        row[(m < k ? m : 0) + c] = one[c];
    for (int c = 0; c < m; ++c)
        row[(m < k ? 0 : k) + c] = other[c];
}

// Write the pairs of box i and the first `count` boxes of its row of slots (n, room). Native for
// the reason of `note`.
void write_noted(int place, int i, int count, wp::array_t<int> slots, int apart, wp::array_t<int> a,
               wp::array_t<int> b, wp::array_t<int> out) {
    const int* row = slots.data + slots.shape[1] * (size_t)i;
    for (int s = 0; s < count; ++s)
        put_pair(place + s, i, row[s], apart, a, b, out);
}

// Write the pairs of box i and the boxes first + k, for the bits k of a mask. Native for the reason
// of `note`.
void write_met(int place, int i, int first, uint32 bits, int apart, wp::array_t<int> a,
             wp::array_t<int> b, wp::array_t<int> out) {
    for (; bits; bits &= bits - 1)
        put_pair(place++, i, first + wp::bit_count(~bits & (bits - 1)), apart, a, b, out);
}
