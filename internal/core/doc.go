// Package core is the domain of ctxls: what a context window holds, when that is worth saying, and what survives compaction.
//
// It is pure. There is no file, no clock, no SQL and no wire format in it: events come in decoded, time comes in as a
// value, state comes and goes through the Store interface, and what differs between hosts is data (Rules). The heart is
// Reduce, a function from state and event to changes and effects; Service puts the work that must happen before the
// transaction (reading transcripts, counting tokens) in front of it.
package core
