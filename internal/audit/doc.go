// Package audit says what a session of an agent host would hold before its first prompt: a tree of costs in tokens, and the
// defects of the files that it is made of. Package contextfiles finds and renders the files; this package counts, sums and prints
// findings in the forms that other programs read.
package audit
