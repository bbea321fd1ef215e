package push

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// Identity is who this machine is to its team. It lies in a file beside the store.
//
// A machine that is a copy of another has the same file. Each pusher that begins replaces the claim that the last one left in the
// database, and remembers it here: of two copies the second finds a claim that it does not know.
type Identity struct {
	path string

	Machine string `json:"machine"` // a UUID
	Salt    string `json:"salt"`    // see Redaction
	// Claims are the last claims by the database that they were made in. The newest may not have arrived.
	Claims map[string][]string `json:"claims"`
}

// OpenIdentity reads the file in a directory, and makes it where there is none. fresh makes another machine of this one.
func OpenIdentity(dir string, fresh bool) (*Identity, error) {
	id := &Identity{path: filepath.Join(dir, "fleet.json")}
	text, err := os.ReadFile(id.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fresh = true
	case err != nil:
		return nil, err
	case json.Unmarshal(text, id) != nil || id.Machine == "" || id.Salt == "":
		return nil, coded.Errorf(coded.Invalid, "%s is damaged; remove it to push as a new machine", id.path)
	}
	if fresh {
		place := os.Rename
		if id.Machine == "" {
			place = os.Link // which fails where another process has just made one
		}
		*id = Identity{path: id.path, Machine: uuid(), Salt: rand.Text()}
		if err := saveJSON(id.path, id, place); errors.Is(err, fs.ErrExist) {
			return OpenIdentity(dir, false)
		} else if err != nil {
			return nil, err
		}
	}
	return id, nil
}

// Next makes up a claim for a database, and returns it with those that were made before. It is on the disk when Next returns.
func (id *Identity) Next(target string) (known []string, next string, err error) {
	known, next = slices.Clone(id.Claims[target]), uuid()
	if id.Claims == nil {
		id.Claims = map[string][]string{}
	}
	id.Claims[target] = append(slices.Clone(known), next)
	if known == nil {
		known = []string{}
	}
	return known, next, id.save()
}

// Granted remembers that a claim has arrived: no older one can be the last.
func (id *Identity) Granted(target, claim string) error {
	id.Claims[target] = []string{claim}
	return id.save()
}

// save writes the file.
func (id *Identity) save() error { return SaveJSON(id.path, id) }

// SaveJSON writes a file so that a crash leaves the old one or the new one. Only the user may read it.
func SaveJSON(path string, v any) error {
	return saveJSON(path, v, os.Rename)
}

// saveJSON writes a file beside path and has place put it there.
func saveJSON(path string, v any, place func(from, to string) error) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".fleet-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = place(f.Name(), path)
	}
	return err
}

// uuid returns a random UUID, of version 4 by RFC 9562.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
