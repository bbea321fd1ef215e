package conversation

// groups returns, for each message, the index of the first message of its group. Messages that hold a call and those that
// hold its results are one group, and so is whatever hangs together by several calls. A result answers the last call
// before it with its id, or the last one to its tool where either has no id; a result that answers nothing, and a call
// that nothing answers, stand alone.
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
				parent[max(a, b)] = min(a, b) // the first of a group leads it
			}
		}
	}
	for i := range parent {
		parent[i] = find(i)
	}
	return parent
}

// key is what a call is found by: its id, or its name where it has none.
func (r ref) key() ref {
	if r.id != "" {
		return ref{id: r.id}
	}
	return ref{name: r.name}
}
