package token

type run struct {
	*Encoding
	text    []byte
	wantIDs bool
	ids     []uint32
	n       int
	m       *merges
}

func (r *run) encode() {
	b := r.text
	for p := 0; p < len(b); {
		end := r.pieceEnd(b, p)
		if v := r.table.Find(b, p, end); v.IsToken() {
			r.n++
			if r.wantIDs {
				r.ids = append(r.ids, v.ID())
			}
		} else {
			if r.m == nil {
				r.m = &merges{table: &r.table}
			}
			r.m.encode(b[p:end])
			r.n += len(r.m.ids)
			if r.wantIDs {
				r.ids = append(r.ids, r.m.ids...)
			}
		}
		p = end
	}
}

