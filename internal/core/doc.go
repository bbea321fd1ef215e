// Package core is the domain of ctxls: what a context window holds, when the agent is told, and what is kept through a compaction.
//
// It has no file, no clock, no SQL and no wire format. Events arrive decoded, the time is an argument, the state is behind the Store
// interface, and differences between hosts are data (Rules). The center is Reduce in package session, a function from state and event to
// changes and effects. Service does the work before the transaction: it reads transcripts and counts tokens.
package core
