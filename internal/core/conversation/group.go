package conversation

// groups returns, for each message, the index of the first message of its group. The messages with a call and with its results are one
// group, and groups that share a message are one. A result answers the last call before it with its ID, or with its tool if either has
// no ID. A result without a call, and a call without a result, are alone.
func groups(messages []message) []int {
	parent := make([]int, len(messages))
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	callers, named := map[ref]int{}, map[string]int{}
	for i, msg := range messages {
		parent[i] = i
		for _, call := range msg.calls {
			callers[call.key()] = i
			if call.name != "" {
				named[call.name] = i
			}
		}
		for _, answer := range msg.answers {
			caller, ok := callers[answer.key()]
			if !ok {
				caller, ok = callers[ref{name: answer.name}]
			}
			if !ok && answer.id == "" {
				caller, ok = named[answer.name]
			}
			if ok {
				a, b := find(caller), find(i)
				parent[max(a, b)] = min(a, b) // the first of a group is its leader
			}
		}
	}
	for i := range parent {
		parent[i] = find(i)
	}
	return parent
}

// key identifies a call: its ID, or its name if it has no ID.
func (r ref) key() ref {
	if r.id != "" {
		return ref{id: r.id}
	}
	return ref{name: r.name}
}
