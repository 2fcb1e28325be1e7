// Package contrib makes opening messages out of sources: text, file, skills
// and http.
//
// A contributor is one file that registers its kind by name. A Composer runs
// the configured ones as a waterfall: each is given the list so far and
// returns an extension of it. What one fresh session would be given now is
//
//	c, err := contrib.NewComposer(configs)
//	r, err := c.Compose(ctx, session) // r.Messages, r.Contributions
//
// Volatile and Diff find text that would change from run to run, which a
// prompt cache cannot use.
//
// # Invariants
//
//  1. A contributor only appends: what is in the list it is given stays, and
//     the list it is given is never changed in place. The Composer hands out
//     copies, and refuses a list that is no extension.
//  2. What it returns shares no memory that it will change later; a prefix of
//     one session never shows in another (I6).
//  3. It runs only while an epoch composes. Files are read then, never later.
//  4. Its text is bounded by MaxBytes and its time by Deadline; a panic is an
//     error of that contributor, not of the process.
//  5. The same sources give the same bytes: nothing here depends on the clock,
//     on map order or on the order a folder is listed in.
//  6. Every message that leaves has a role of the four, and text that is valid
//     UTF-8, without NUL, and not blank. No message at all is the empty list.
//  7. An interrupted composition gives an error and no messages (I5).
//  8. No error quotes a contributor's text, a header's value, a URL's query or
//     a value that a contributor panicked with (I12).
package contrib
