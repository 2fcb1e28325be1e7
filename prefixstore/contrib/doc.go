// Package contrib holds the sources of opening messages: text, file, skills
// and http.
//
// A contributor is one file that registers its kind by name. Composition is a
// waterfall: each contributor is given the list so far and returns an
// extension of it.
//
// # Invariants
//
//  1. A contributor only appends: what is in the list it is given stays, and
//     the list it is given is never changed in place.
//  2. What it returns shares no memory that it will change later; a prefix of
//     one session never shows in another (I6).
//  3. It runs only while an epoch composes. Files are read then, never later.
//  4. Its text is bounded by MaxBytes and its time by Deadline; a panic is an
//     error of that contributor, not of the process.
package contrib
