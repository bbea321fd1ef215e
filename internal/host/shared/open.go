// Package shared opens files of hosts so that ctxls stands in no host's way.
package shared

import (
	"io"
)

// ReadFile is os.ReadFile by Open.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
